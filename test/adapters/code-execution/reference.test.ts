/** The examples of the service that this one replaces, with their results. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { useService } from './use-service.ts'

const { service, execute, outputOf } = useService({
  poolSize: 2,
  maxQueueSize: 100,
  maxCrashesPerWorker: 3,
  crashTimeWindow: 60_000,
})

test('a sum and an average', async () => {
  await service.initialize()
  const code = `
    const sum = input.values.reduce((a, b) => a + b, 0);
    const average = sum / input.values.length;
    output = { sum, average };`
  const limits = { timeoutSeconds: 30, memoryLimitMB: 128 }
  const result = await execute(code, { inputData: { values: [10, 20, 30, 40, 50] }, ...limits })
  const { executionTimeMs = 0, ...rest } = result
  assert.deepEqual(rest, { success: true, output: { sum: 150, average: 30 } })
  assert.ok(executionTimeMs > 0)
  const { activeWorkers, busyWorkers, queueLength } = service.getStats()
  assert.deepEqual([activeWorkers, busyWorkers, queueLength], [2, 0, 0])
})

test('the action of an agent', async () => {
  const code = 'const total = input.prices.reduce((sum, p) => sum + p, 0); output = total;'
  const action = { code, language: 'javascript', inputData: '{"prices": [10, 20, 30]}' } as const
  assert.equal((await service.executeCodeAction(action)).output, 60)
  assert.equal((await service.executeCodeAction({ ...action, timeout: 5, memoryLimit: 16 })).output, 60)
  const { success, error, errorType } = await service.executeCodeAction({ ...action, inputData: '{"a"' })
  assert.deepEqual([success, errorType], [false, undefined])
  assert.match(error ?? '', /^inputData is not valid JSON: /)
  const late = await service.executeCodeAction({ code: 'for (;;);', language: 'javascript', timeout: 0.05 })
  assert.equal(late.errorType, 'TIMEOUT')
  for (const odd of [null, undefined, 5])
    assert.equal((await service.executeCodeAction(odd as never)).success, false)
})

test('lodash: sales', async () => {
  const code = `
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
  assert.deepEqual(await outputOf(code, { inputData: { sales } }), {
    totalSales: 450,
    avgSale: 150,
    topProducts: [
      { product: 'Widget', revenue: 250 },
      { product: 'Gadget', revenue: 200 },
    ],
  })
})

test('date-fns: milestones', async () => {
  const code = `
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
  assert.deepEqual(await outputOf(code, { inputData: { startDate: '2025-01-01', endDate: '2025-12-31' } }), {
    duration: 364,
    milestones: ['2025-01-31', '2025-03-02', '2025-04-01'],
  })
})

test('papaparse: rows of a table, with real line ends and with the characters \\n', async () => {
  const code = `
    const Papa = require('papaparse');
    const parsed = Papa.parse(input.csvData, { header: true, dynamicTyping: true });
    const processed = parsed.data
      .filter(row => row.status === 'active')
      .map(row => ({ id: row.id, name: row.name, value: row.value * 1.1 }));
    output = processed;`
  const csvData = 'id,name,value,status\n1,Item A,100,active\n2,Item B,200,inactive'
  const rows = [{ id: 1, name: 'Item A', value: 110.00000000000001 }]
  assert.deepEqual(await outputOf(code, { inputData: { csvData } }), rows)
  assert.deepEqual(await outputOf(code, { inputData: { csvData: csvData.replaceAll('\n', '\\n') } }), [])
})

test('mathjs: statistics', async () => {
  const code = `
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
  const measurements = [23.1, 24.5, 22.8, 25.0, 23.7, 24.2, 22.9]
  assert.deepEqual(await outputOf(code, { inputData: { measurements } }), {
    mean: 23.742857142857144,
    median: 23.7,
    std: 0.8541216596737313,
    variance: 0.7295238095238092,
    min: 22.8,
    max: 25,
  })
})

test('jstat, uuid and validator', async () => {
  const uuid = /^[\da-f]{8}-[\da-f]{4}-[47][\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/
  const ids = (await outputOf(
    "const { v4, v7 } = require('uuid'); output = [v4(), v4(), v7(), v7()]",
  )) as string[]
  assert.ok(ids.every((id) => uuid.test(id)))
  assert.equal(new Set(ids).size, 4)
  assert.deepEqual(
    await outputOf(`const v = require('validator')
      output = [v.isEmail('a@b.org'), v.isURL('https://example.com/a'), v.isURL('no'), v.isNumeric('12')]`),
    [true, true, false, true],
  )
  assert.equal(await outputOf("output = require('jstat').jStat.normal.cdf(0, 0, 1)"), 0.5)
})

test('lodash templates are the documented loss', async () => {
  assert.equal((await execute("output = require('lodash').template('<%= a %>')({ a: 1 })")).success, false)
})

test('an endless loop is a timeout', async () => {
  const result = await execute('while(true) {}', { timeoutSeconds: 0.2 })
  assert.equal(result.errorType, 'TIMEOUT')
  assert.equal(result.error, 'Code execution exceeded timeout of 0.2 seconds')
})
