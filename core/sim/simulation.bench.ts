/**
 * Events per second of the kernel with many pending events, compared with a binary heap of plain objects, and growth of the
 * cost per event.
 */
import type { Bench, Growth } from '../../bench/measure.ts'
import { randomStream } from '../base/random.ts'
import { Simulation } from './simulation.ts'

const EVENTS = 200_000
const PENDING = 10_000
/** Maximum delay between an event and the one it schedules, ns. */
const GAP = 1_000_000

type Clock = () => number

/** Hold model: every event schedules one more, so the number pending is constant. Returns ns per event. */
function hold(now: Clock, pending: number): number {
  const sim = new Simulation()
  const random = randomStream(1, 'hold')
  const event = (): void => sim.after(random.below(GAP), event)
  for (let i = 0; i < pending; i++) sim.at(random.below(GAP), event)
  const began = now()
  sim.runUntil(Number.MAX_SAFE_INTEGER, EVENTS)
  return ((now() - began) * 1e6) / EVENTS
}

interface Item {
  at: number
  order: number
  run: () => void
}

const precedes = (a: Item, b: Item): boolean => a.at < b.at || (a.at === b.at && a.order < b.order)

/** Hold model on a binary heap with one object per event. */
function holdPlainHeap(now: Clock, pending: number): number {
  const random = randomStream(1, 'hold')
  const heap: Item[] = []
  let time = 0
  let scheduled = 0
  const push = (at: number, run: () => void): void => {
    const item = { at, order: scheduled++, run }
    let i = heap.push(item) - 1
    for (let p = (i - 1) >> 1; i > 0 && precedes(item, heap[p] as Item); p = (i - 1) >> 1) {
      heap[i] = heap[p] as Item
      i = p
    }
    heap[i] = item
  }
  const pop = (): Item => {
    const first = heap[0] as Item
    const last = heap.pop() as Item
    if (heap.length === 0) return first
    let i = 0
    for (let child = 1; child < heap.length; child = 2 * i + 1) {
      if (child + 1 < heap.length && precedes(heap[child + 1] as Item, heap[child] as Item)) child++
      if (precedes(last, heap[child] as Item)) break
      heap[i] = heap[child] as Item
      i = child
    }
    heap[i] = last
    return first
  }
  const event = (): void => push(time + random.below(GAP), event)
  for (let i = 0; i < pending; i++) push(random.below(GAP), event)
  const began = now()
  for (let i = 0; i < EVENTS; i++) {
    const item = pop()
    time = item.at
    item.run()
  }
  return ((now() - began) * 1e6) / EVENTS
}

export const benches: readonly (Bench | Growth)[] = [
  {
    id: 'sim.events',
    unit: 'events/s',
    run: (now: Clock) => 1e9 / hold(now, PENDING),
    baseline: (now: Clock) => 1e9 / holdPlainHeap(now, PENDING),
    note: `The kernel with ${PENDING} events pending; each schedules one more at a random time.`,
    beside: 'A binary heap of plain objects, one an event.',
    limit: 'The random draw and the call of each event are in it; the rest is moving instants in the heap.',
  },
  {
    id: 'sim.growth',
    unit: 'log power',
    sizes: [1e3, 1e4, 1e5],
    axis: 'log',
    runs: 5,
    cost: hold,
    note: 'Time of one event by the events pending; 1 is logarithmic.',
    limit: 'Above 1 is memory: what is pending outgrows the caches of the processor.',
  },
]
