/**
 * Enqueue plus dequeue through one TBF head, by number of classes, compared with a binary heap of requests without any policy.
 *
 * `tbf.rpc.N-classes`: every class has RPCs waiting all the time, at rates of five rules. `tbf.idle`: each RPC finds its class
 * idle and leaves it idle. `tbf.churn`: so many classes that each RPC finds its class evicted.
 */
import type { Bench, Growth } from '../../bench/measure.ts'
import { parseRuleCommand } from './rule-command.ts'
import { TbfHead } from './tbf-head.ts'

const RPCS = 300_000
const RATES = [1000, 700, 1300, 400, 2500] as const
type Clock = () => number

interface Request {
  readonly jobId: string
  readonly nid: string
}

const requestOf = (i: number): Request => ({ jobId: `job.${i}`, nid: '10.0.0.1@tcp' })
const rateOf = (i: number): number => RATES[i % 10] ?? RATES[0]

/** RPC/s over RPCS calls of `one`, after `before` calls to reach a steady state. */
function timed(now: Clock, before: number, one: () => void): number {
  for (let i = 0; i < before; i++) one()
  const began = now()
  for (let i = 0; i < RPCS; i++) one()
  return (RPCS / (now() - began)) * 1000
}

function headWithRules(module: { rate: number; depth: number; jobidCacheSize?: number }): TbfHead<Request> {
  const head = new TbfHead<Request>(['jobid'], module)
  for (const [digit, rate] of RATES.entries()) {
    const command = parseRuleCommand(`start r${digit} jobid={*${digit}} rate=${rate}`)
    if (command.ok) head.command(command.value)
  }
  return head
}

function busy(classes: number, now: Clock): number {
  const head = headWithRules({ rate: RATES[0], depth: 3 })
  let total = 0
  for (let i = 0; i < classes; i++) {
    total += rateOf(i)
    const request = requestOf(i)
    head.enqueue(0, request)
    head.enqueue(0, { ...request })
  }
  const step = Math.ceil(1.02e9 / total)
  let time = 0
  return timed(now, classes * 4, () => {
    time = Math.max(time + step, head.wakeAt)
    let r = head.dequeue(time)
    while (r === undefined) r = head.dequeue((time = head.wakeAt))
    head.enqueue(time, r)
  })
}

function idle(classes: number, jobidCacheSize: number, now: Clock): number {
  const head = headWithRules({ rate: 999_999, depth: 3, jobidCacheSize })
  const all = Array.from({ length: classes }, (_, i) => requestOf(i))
  let time = 0
  let i = 0
  return timed(now, classes * 2, () => {
    head.enqueue(time, all[i++ % classes] as Request)
    time += 2_500_000
    if (head.dequeue(time) === undefined) throw new Error('a class at 400/s or more has a token after 2.5 ms')
  })
}

/** RPCs in a binary heap by deadline, removed and reinserted at their rate: no classes, no buckets, no rules. */
function plainHeap(classes: number, now: Clock): number {
  interface Item {
    readonly request: Request
    readonly gap: number
    deadline: number
  }
  const heap: Item[] = []
  const push = (item: Item): void => {
    let i = heap.push(item) - 1
    for (; i > 0 && (heap[(i - 1) >> 1] as Item).deadline > item.deadline; i = (i - 1) >> 1) {
      heap[i] = heap[(i - 1) >> 1] as Item
    }
    heap[i] = item
  }
  const pop = (): Item => {
    const first = heap[0] as Item
    const last = heap.pop() as Item
    if (heap.length === 0) return first
    let i = 0
    for (let child = 1; child < heap.length; child = 2 * i + 1) {
      if (child + 1 < heap.length && (heap[child + 1] as Item).deadline < (heap[child] as Item).deadline) child++
      if ((heap[child] as Item).deadline >= last.deadline) break
      heap[i] = heap[child] as Item
      i = child
    }
    heap[i] = last
    return first
  }
  for (let i = 0; i < classes; i++) push({ request: requestOf(i), gap: Math.floor(1e9 / rateOf(i)), deadline: i })
  return timed(now, classes * 4, () => {
    const item = pop()
    item.deadline += item.gap
    push(item)
  })
}

const SIZES = [100, 1000, 10_000, 100_000] as const
const CACHES =
  'Above 1 is memory that no longer fits the caches: what tbf.growth.plain-heap has above 1 is that cost alone.'

export const benches: readonly (Bench | Growth)[] = [
  ...SIZES.map((n) => ({
    id: `tbf.rpc.${n}-classes`,
    unit: 'RPC/s',
    run: (now: Clock) => busy(n, now),
    baseline: (now: Clock) => plainHeap(n, now),
    ...(n === 10_000 && { must: { least: 1_000_000 } }),
    runs: 5,
    note: 'Enqueue and dequeue through one head; all classes have RPCs waiting.',
    beside: 'A binary heap of requests, without classes, buckets or rules.',
    limit: 'One look-up of the class by job id and one move in the heap of deadlines.',
  })),
  {
    id: 'tbf.idle.10000-classes',
    unit: 'RPC/s',
    run: (now: Clock) => idle(10_000, 16_384, now),
    note: 'Enqueue and dequeue; each RPC finds its class idle and leaves it idle.',
    limit: 'The same look-up and heap as above, with a class of one RPC: the heap stays empty.',
  },
  {
    id: 'tbf.churn.10000-classes',
    unit: 'RPC/s',
    run: (now: Clock) => idle(10_000, 8192, now),
    note: 'Enqueue and dequeue; each RPC finds its class forgotten.',
    limit: 'A class is made and matched against the rules for every RPC.',
  },
  {
    id: 'tbf.growth',
    unit: 'log power',
    sizes: SIZES,
    axis: 'log',
    runs: 5,
    must: { most: 1 },
    cost: (now: Clock, classes: number) => 1e9 / busy(classes, now),
    note: 'Time of one RPC through a head by its classes; 1 is logarithmic.',
    limit: CACHES,
  },
  {
    id: 'tbf.growth.plain-heap',
    unit: 'log power',
    sizes: SIZES,
    axis: 'log',
    runs: 5,
    cost: (now: Clock, classes: number) => 1e9 / plainHeap(classes, now),
    note: 'The same of a binary heap of requests without classes, buckets or rules.',
    limit: CACHES,
  },
]
