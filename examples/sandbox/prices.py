"""What a basket costs. It has a mistake."""


def total(basket, discount=0):
    return sum(price * count for price, count in basket) - discount
