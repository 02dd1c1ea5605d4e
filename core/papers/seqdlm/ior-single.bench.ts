/**
 * Cost of the Fig. 20 experiment at full size: SeqDLM segmented, SeqDLM strided and DLM-basic strided at one write
 * size, 16 clients with the paper's 2 GB each; for comparison as many events of the bare kernel as the three runs have
 * together.
 */
import type { Bench } from '../../../bench/measure.ts'
import { DLM_BASIC, SEQDLM } from '../../seqdlm/policy.ts'
import { Simulation } from '../../sim/simulation.ts'
import { runIor, type Ior } from './ior.ts'

type Clock = () => number

const KB = 1024
const RUNS: readonly Pick<Ior, 'policy' | 'pattern'>[] = [
  { policy: SEQDLM, pattern: 'segmented' },
  { policy: SEQDLM, pattern: 'strided' },
  { policy: DLM_BASIC, pattern: 'strided' },
]
/** Events of the three runs at 64 KB, and pending events: about one operation or message per client. */
const EVENTS = 4_220_000
const PENDING = 64

/** Seconds for one write size. */
function fig20(bytes: number, now: Clock): number {
  const began = now()
  for (const run of RUNS) runIor({ ...run, clients: 16, stripes: 1, bytes, scale: 1 }, 1)
  return (now() - began) / 1000
}

function bareKernel(now: Clock): number {
  const sim = new Simulation()
  let remaining = EVENTS
  const event = (): void => {
    if (--remaining >= PENDING) sim.after(1 + (remaining % 1000), event)
  }
  const began = now()
  for (let i = 0; i < PENDING; i++) sim.at(i, event)
  sim.runUntil(Infinity)
  return (now() - began) / 1000
}

export const benches: readonly Bench[] = [64, 1024].map((kb) => ({
  id: `seqdlm.fig20.${kb}-KB`,
  unit: 's',
  run: (now: Clock) => fig20(kb * KB, now),
  ...(kb === 64 ? { baseline: bareKernel, beside: 'as many events of the bare kernel that do nothing' } : {}),
  note: 'three runs at full size, 16 clients with 2 GB each',
  must: { most: 5 },
  runs: 5,
  limit:
    'Every write is an extent that stays in memory until its server has it: they are made, read back and collected.',
}))
