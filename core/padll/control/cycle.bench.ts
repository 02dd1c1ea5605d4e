/**
 * One control cycle in process, by number of local controllers: collect, compute, enforce. One stage on each, each with
 * its own job; all rates change in every cycle.
 *
 * The paper (V-D, Fig. 10) has 0.16 to 0.66 ms for up to 40 local controllers and 1.03 to 11.11 ms for up to 1,000,
 * over a network.
 */
import type { Bench, Growth } from '../../../bench/measure.ts'
import { NS_PER_S } from '../../base/units.ts'
import { parseHousekeeping } from '../rules/housekeeping.ts'
import { GlobalController } from './global-controller.ts'
import { LocalController } from './local-controller.ts'

type Clock = () => number

const RULES = parseHousekeeping(`1 create_channel 1 posix_meta 0 no_op meta_op
2 create_object 1 1 posix_meta no_op meta_op drl 10000 1000000
`).rules

/** Local controllers with a given number of stages each, in one process; messages share one queue. */
export class Hierarchy {
  nowNs = 0
  cycles = 0
  readonly #queue: (() => void)[] = []
  readonly #global: GlobalController

  constructor(locals: number, stagesOfEach = 1) {
    const locally: LocalController[] = []
    const later = (act: () => void): void => void this.#queue.push(act)
    this.#global = new GlobalController({
      controller: 'bench',
      startedMs: 0,
      startedNs: 0,
      housekeeping: RULES,
      settings: { limits: new Map([['meta_op', 100 * locals * stagesOfEach]]) },
      io: {
        send: (link, m) => later(() => locally[link]?.onGlobalMessage(link, m, this.nowNs)),
        close: () => undefined,
      },
    })
    for (let i = 0; i < locals; i++) {
      const local = new LocalController({
        local: `l${i}`,
        hostname: `n${i}`,
        io: {
          toStage: (link, m) =>
            later(() => {
              if (m.kind === 'alive' || m.kind === 'refused') return
              const { request } = m
              if (m.kind !== 'collect') return local.onStageMessage(link, { kind: 'ack', request }, this.nowNs)
              const served = 50 + ((i * 31 + link * 17 + this.cycles * 13) % 100)
              const of = { channel: 1, object: 1, scope: 'meta_op', arrived: served, served, waited: 0 } as const
              const channels = [{ ...of, queued: 0, throttledNs: 0 }]
              local.onStageMessage(link, { kind: 'counts', request, channels }, this.nowNs)
            }),
          closeStage: () => undefined,
          toGlobal: (_, m) => later(() => this.#global.onMessage(i, m, this.nowNs)),
          closeGlobal: () => undefined,
        },
      })
      locally.push(local)
      this.#global.onOpen(i, 0)
      local.onGlobalOpen(i, 0)
    }
    this.#drain()
    for (const [i, local] of locally.entries()) {
      for (let k = 0; k < stagesOfEach; k++) {
        local.onStageOpen(k, 0)
        const identity = { job: `job.${i}.${k}`, instance: 0, pid: i * 100 + k, ppid: 1, hostname: `n${i}`, user: 'u' }
        local.onStageMessage(k, { kind: 'hello', protocol: 1, identity }, 0)
      }
    }
    this.#drain()
  }

  #drain(): void {
    // Grows while it is read.
    for (let i = 0; i < this.#queue.length; i++) this.#queue[i]!()
    this.#queue.length = 0
  }

  cycle(): void {
    this.cycles++
    this.nowNs = Math.max(this.nowNs + NS_PER_S, this.#global.nextNs())
    this.#global.tick(this.nowNs)
    this.#drain()
  }
}

function cycleMs(locals: number, now: Clock, stagesOfEach = 1): number {
  const h = new Hierarchy(locals, stagesOfEach)
  for (let i = 0; i < 5; i++) h.cycle()
  const times = Array.from({ length: 15 }, () => {
    const began = now()
    h.cycle()
    return now() - began
  }).sort((a, b) => a - b)
  return times[7]!
}

/** Paper's values, over a network with controllers on dedicated nodes. */
const PAPER_MS: Readonly<Record<number, number>> = { 1: 0.162, 40: 0.664, 1000: 11.11 }

export const benches: readonly (Bench | Growth)[] = [
  ...[1, 10, 40, 100, 1000].map((n) => ({
    id: `padll.control.cycle.${n}-locals`,
    unit: 'ms',
    run: (now: Clock) => cycleMs(n, now),
    note: 'collect, compute, enforce; one stage on each, all rates change; all controllers in one process',
    ...(PAPER_MS[n] === undefined ? {} : { paper: `${PAPER_MS[n]} ms over a network (PADLL V-D, Fig. 10)` }),
    limit: 'Four messages a local controller and cycle, each with new objects, which the garbage collector frees.',
  })),
  {
    id: 'padll.control.cycle.10000-jobs',
    unit: 'ms',
    run: (now: Clock) => cycleMs(100, now, 100),
    note: '100 locals with 100 jobs each',
    limit: 'Rates of ten thousand jobs are planned and split again in every cycle, and a message goes to each stage.',
    runs: 5,
  },
  {
    id: 'padll.control.cycle.growth',
    unit: 'power',
    note: 'cycle over local controllers; 1 is linear; the bound is our own target',
    limit: 'Four messages a local controller; what is known of a thousand outgrows the first caches of a processor.',
    sizes: [10, 40, 100, 400, 1000],
    cost: (now: Clock, n: number) => cycleMs(n, now),
    axis: 'size',
    must: { most: 1.1 },
    runs: 5,
  },
]
