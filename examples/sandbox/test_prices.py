import unittest

from prices import total


class Total(unittest.TestCase):
    def test_sums_up(self):
        self.assertEqual(total([(2, 3), (4, 1)]), 10)

    def test_a_discount_is_a_share_of_it(self):
        self.assertEqual(total([(50, 2)], discount=0.25), 75)


if __name__ == "__main__":
    unittest.main()
