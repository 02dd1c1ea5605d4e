// 10,000 random sequences through allocator and pair ledger, every invariant after every period. A plain generator and one
// expectation at the end: fast-check and a matcher a number would take minutes.
import { describe, expect, it } from 'vitest'
import { type RandomStream, randomStream } from '../base/random.ts'
import { type AllocatedPeriod, type PeriodFlows, TokenAllocator } from './allocation.ts'
import type { PeriodJob } from './job-ledger.ts'
import type { PairMove } from './pair-accounts.ts'
import { PairLedger } from './pair-ledger.ts'

const SEQUENCES = 10_000
const JOB_IDS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', '__proto__', '4711']

function randomPeriod(draw: RandomStream): PeriodJob[] {
  const isIdle = draw.below(8) === 0
  return JOB_IDS.flatMap((id) => {
    if (draw.below(10) < 4) return []
    const demand = isIdle ? draw.below(4) : draw.below(3) === 0 ? draw.below(400) : draw.below(30)
    return [{ id, nodes: draw.below(6) === 0 ? undefined : 1 + draw.below(20), demand }]
  })
}

const sum = (values: Iterable<number>): number => {
  let total = 0
  for (const value of values) total += value
  return total
}

/** Yields the faults of an allocation; spec 3. */
function* allocationFaults(
  allocator: TokenAllocator,
  before: ReadonlyMap<string, number>,
  { budget, ids, tokens, records, recordDeltas }: AllocatedPeriod,
  { redistributed, recompensated }: PeriodFlows,
): Generator<string> {
  const all = allocator.records()
  if (sum(tokens) !== (ids.length > 0 ? budget : 0)) yield 'tokens do not sum to the budget'
  if (sum(all.values()) !== 0) yield 'records do not sum to 0'
  if (sum(redistributed) !== 0 || sum(recompensated) !== 0) yield 'a step creates tokens'
  const remainders = [...all.keys()].map((id) => allocator.remainder(id)!)
  if (Math.abs(sum(remainders)) > 1e-9) yield 'remainders do not sum to 0'
  if (remainders.some((rho) => Math.abs(rho) >= Math.max(1.5, all.size))) yield 'a remainder runs away'
  const { initial, redistributed: second, recompensated: third } = allocator.explain()
  for (const [i, id] of ids.entries()) {
    const delta = records[i]! - (before.get(id) ?? 0)
    if (!(tokens[i]! >= 0 && Number.isInteger(tokens[i]) && Number.isInteger(records[i])))
      yield `${id} has no whole tokens`
    if (delta !== recordDeltas[i] || delta !== initial.alloc[id]! - tokens[i]!) yield `the record of ${id} is off`
    if (delta !== redistributed[i]! + recompensated[i]!) yield `the steps of ${id} are off`
    if (all.get(id) !== records[i]) yield `${id} has two records`
    const isLender = third.positive.includes(id)
    if (!isLender && !third.negative.includes(id) && second.alloc[id] !== third.alloc[id]) yield `step 3 moves ${id}`
    const owed = Math.max(0, -(before.get(id) ?? 0))
    if ((third.reclaimed[id] ?? 0) > Math.min(owed, second.alloc[id]!)) yield `${id} gives more than it owes or has`
  }
  for (const [id, record] of all) if (!ids.includes(id) && record !== (before.get(id) ?? 0)) yield `idle ${id} moves`
}

/** Yields the faults of the pairs, given every move so far. */
function* pairFaults(
  pairs: PairLedger,
  records: ReadonlyMap<string, number>,
  journal: ReadonlyMap<string, number>,
): Generator<string> {
  const owed = new Map<string, number>()
  const roles = new Map<string, string>()
  let open = 0
  for (const { lender, borrower, lent, reclaimed, outstanding } of pairs.pairs()) {
    open++
    if (outstanding !== lent - reclaimed || outstanding <= 0 || reclaimed < 0)
      yield `${lender} and ${borrower} do not add up`
    if (journal.get(`${lender} ${borrower}`) !== outstanding) yield `the journal of ${lender} and ${borrower} differs`
    if ((roles.get(lender) ?? 'lender') !== 'lender') yield `${lender} lends and borrows`
    if ((roles.get(borrower) ?? 'borrower') !== 'borrower') yield `${borrower} lends and borrows`
    roles.set(lender, 'lender').set(borrower, 'borrower')
    owed.set(lender, (owed.get(lender) ?? 0) + outstanding)
    owed.set(borrower, (owed.get(borrower) ?? 0) - outstanding)
  }
  if ([...journal.values()].filter((outstanding) => outstanding !== 0).length !== open)
    yield 'the journal has other pairs'
  for (const [id, record] of records) {
    const { lent, reclaimed, borrowed, repaid } = pairs.totals(id)
    if ((owed.get(id) ?? 0) !== record) yield `the pairs of ${id} are not its record`
    if (pairs.balance(id) !== record || lent - reclaimed - borrowed + repaid !== record)
      yield `the totals of ${id} are off`
  }
}

function note(journal: Map<string, number>, moves: readonly PairMove[]): void {
  for (const { lender, borrower, lent, reclaimed } of moves) {
    const key = `${lender} ${borrower}`
    journal.set(key, (journal.get(key) ?? 0) + lent - reclaimed)
  }
}

/** Runs one sequence and returns the faults of all its periods. */
function play(seed: number, coefficient: 'max' | 'min'): string[] {
  const draw = randomStream(seed, 'sequence')
  const allocator = new TokenAllocator({ coefficient })
  const pairs = new PairLedger()
  const journal = new Map<string, number>()
  const faults: string[] = []
  const maxRatePerSec = 10 * (draw.below(12) === 0 ? draw.below(9) + 1 : draw.below(400) + 1)
  const periods = 3 + draw.below(14)
  for (let period = 1; period <= periods; period++) {
    const before = allocator.records()
    const stepped = allocator.step({ maxRatePerSec, dtSeconds: 0.1, jobs: randomPeriod(draw) })
    if (!stepped.ok) return [stepped.error.what]
    const flows = allocator.flows()
    note(journal, pairs.enter(period, flows.ids, [flows.redistributed, flows.recompensated]))
    faults.push(...allocationFaults(allocator, before, stepped.value, flows))
    faults.push(...pairFaults(pairs, allocator.records(), journal))
  }
  return faults
}

describe(`${SEQUENCES} random sequences`, () => {
  it('keep every invariant of records, remainders, tokens and pairs', () => {
    const faults: string[] = []
    for (let seed = 0; seed < SEQUENCES && faults.length < 10; seed++) {
      faults.push(...play(seed, seed % 5 === 4 ? 'min' : 'max').map((fault) => `sequence ${seed}: ${fault}`))
    }
    expect(faults).toEqual([])
  })

  it('finds what is wrong: a ledger that missed a period', () => {
    const allocator = new TokenAllocator()
    const jobs = [
      { id: 'a', nodes: 1, demand: 5 },
      { id: 'b', nodes: 2, demand: 200 },
    ]
    allocator.step({ maxRatePerSec: 1000, dtSeconds: 0.1, jobs })
    expect([...pairFaults(new PairLedger(), allocator.records(), new Map())]).toContain(
      'the pairs of a are not its record',
    )
  })
})
