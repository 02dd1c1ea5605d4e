/** Events per second of the kernel with many events pending, beside a sorted array as the future-event list. */
import { randomStream } from '../base/random.ts'
import { Simulation } from './simulation.ts'

const EVENTS = 200_000
const PENDING = 10_000

/** The hold model: every event schedules one more, so that the number pending stays the same. */
function hold(now: () => number): number {
  const sim = new Simulation()
  const random = randomStream(1, 'hold')
  let left = EVENTS
  const event = (): void => {
    if (left-- > 0) sim.after(random.below(1_000_000), event)
  }
  for (let i = 0; i < PENDING; i++) sim.at(random.below(1_000_000), event)
  const began = now()
  sim.runUntil(Number.MAX_SAFE_INTEGER)
  return (sim.executed / (now() - began)) * 1000
}

function holdSortedArray(now: () => number): number {
  const random = randomStream(1, 'hold')
  const list: { at: number; run: () => void }[] = []
  let time = 0
  let left = EVENTS / 10
  let executed = 0
  const schedule = (at: number, run: () => void): void => {
    let lo = 0
    let hi = list.length
    while (lo < hi) {
      const mid = (lo + hi) >> 1
      if ((list[mid] as { at: number }).at > at) lo = mid + 1
      else hi = mid
    }
    list.splice(lo, 0, { at, run })
  }
  const event = (): void => {
    if (left-- > 0) schedule(time + random.below(1_000_000), event)
  }
  for (let i = 0; i < PENDING; i++) schedule(random.below(1_000_000), event)
  const began = now()
  for (let e = list.pop(); e; e = list.pop()) {
    time = e.at
    executed++
    e.run()
  }
  return (executed / (now() - began)) * 1000
}

export const benches = [
  { id: 'sim.events', unit: 'events/s', run: hold, baseline: holdSortedArray, note: `${PENDING} events pending` },
] as const
