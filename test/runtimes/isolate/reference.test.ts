/** The examples of the service that this one stands in for, with their results. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runIsolate } from './isolate.ts'

async function outputOf(source: string, input?: unknown): Promise<unknown> {
  const ended = await runIsolate({ source, input })
  assert.equal(ended.state, 'completed', JSON.stringify(ended))
  return 'output' in ended ? ended.output : undefined
}

test('a sum and an average', async () => {
  const source = `
    const sum = input.values.reduce((a, b) => a + b, 0);
    const average = sum / input.values.length;
    output = { sum, average };`
  assert.deepEqual(await outputOf(source, { values: [10, 20, 30, 40, 50] }), { sum: 150, average: 30 })
})

test('a total of prices', async () => {
  const source = 'const total = input.prices.reduce((sum, p) => sum + p, 0); output = total;'
  assert.equal(await outputOf(source, { prices: [10, 20, 30] }), 60)
})

test('lodash: sales', async () => {
  const source = `
    const _ = require('lodash');
    const metrics = {
      totalSales: _.sumBy(input.sales, 'amount'),
      avgSale: _.meanBy(input.sales, 'amount'),
      topProducts: _.chain(input.sales)
        .groupBy('product')
        .map((items, product) => ({ product, revenue: _.sumBy(items, 'amount') }))
        .sortBy(x => -x.revenue)
        .take(5)
        .value()
    };
    output = metrics;`
  const sales = [
    { product: 'Widget', amount: 100 },
    { product: 'Gadget', amount: 200 },
    { product: 'Widget', amount: 150 },
  ]
  assert.deepEqual(await outputOf(source, { sales }), {
    totalSales: 450,
    avgSale: 150,
    topProducts: [
      { product: 'Widget', revenue: 250 },
      { product: 'Gadget', revenue: 200 },
    ],
  })
})

test('date-fns: milestones', async () => {
  const source = `
    const { format, addDays, differenceInDays } = require('date-fns');
    const start = new Date(input.startDate);
    const end = new Date(input.endDate);
    output = {
      duration: differenceInDays(end, start),
      milestones: [
        format(addDays(start, 30), 'yyyy-MM-dd'),
        format(addDays(start, 60), 'yyyy-MM-dd'),
        format(addDays(start, 90), 'yyyy-MM-dd')
      ]
    };`
  assert.deepEqual(await outputOf(source, { startDate: '2025-01-01', endDate: '2025-12-31' }), {
    duration: 364,
    milestones: ['2025-01-31', '2025-03-02', '2025-04-01'],
  })
})

const csv = `
  const Papa = require('papaparse');
  const parsed = Papa.parse(input.csvData, { header: true, dynamicTyping: true });
  const processed = parsed.data
    .filter(row => row.status === 'active')
    .map(row => ({
      id: row.id,
      name: row.name,
      value: row.value * 1.1 // 10% markup
    }));
  output = processed;`

test('papaparse: rows of a table', async () => {
  const csvData = 'id,name,value,status\n1,Item A,100,active\n2,Item B,200,inactive'
  assert.deepEqual(await outputOf(csv, { csvData }), [{ id: 1, name: 'Item A', value: 110.00000000000001 }])
})

test('papaparse: the same with the characters \\n is one line', async () => {
  const csvData = 'id,name,value,status\\n1,Item A,100,active\\n2,Item B,200,inactive'
  assert.deepEqual(await outputOf(csv, { csvData }), [])
})

test('mathjs: statistics', async () => {
  const source = `
    const math = require('mathjs');
    const values = input.measurements;
    output = {
      mean: math.mean(values),
      median: math.median(values),
      std: math.std(values),
      variance: math.variance(values),
      min: math.min(values),
      max: math.max(values)
    };`
  assert.deepEqual(await outputOf(source, { measurements: [23.1, 24.5, 22.8, 25.0, 23.7, 24.2, 22.9] }), {
    mean: 23.742857142857144,
    median: 23.7,
    std: 0.8541216596737313,
    variance: 0.7295238095238092,
    min: 22.8,
    max: 25,
  })
})
