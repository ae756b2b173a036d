"""The price of a basket. It has a bug."""


def total(basket, discount=0):
    return sum(price * count for price, count in basket) - discount
