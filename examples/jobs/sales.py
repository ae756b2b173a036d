"""A program that a language model might write to answer a question about sales. The last expression is the answer."""

import csv
from collections import defaultdict
from datetime import date

revenue_by_region = defaultdict(float)
revenue_by_month = defaultdict(float)
quantity_by_product = defaultdict(int)

with open("sales.csv", newline="", encoding="utf-8") as file:
    for row in csv.DictReader(file):
        quantity = int(row["quantity"])
        price = float(row["unit_price"]) * (1 - int(row["discount_percent"]) / 100)
        revenue_by_region[row["region"]] += quantity * price
        revenue_by_month[date.fromisoformat(row["date"]).strftime("%B")] += quantity * price
        quantity_by_product[row["product"]] += quantity

for region, revenue in sorted(revenue_by_region.items(), key=lambda item: -item[1]):
    print(f"{region:<6} {revenue:>10,.2f}")

{
    "revenue": round(sum(revenue_by_region.values()), 2),
    "best_region": max(revenue_by_region, key=revenue_by_region.get),
    "best_month": max(revenue_by_month, key=revenue_by_month.get),
    "best_sellers": sorted(quantity_by_product, key=quantity_by_product.get, reverse=True)[: input_data["top"]],
}
