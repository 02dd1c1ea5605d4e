/** Debts between jobs at a sample (present debts minus later transfers), and the lines of a job's ledger. */
import type { JobPairs, LedgerLine, PairColumns } from '#core/api/adaptbf.ts'
import { byCodeUnit } from '#core/base/order.ts'
import type { ClusterMonitor } from '../../cluster/monitor.ts'

/** Most pairs in one frame. */
const TABLE_PAIRS = 400
const JOB_PAIRS = 60

export interface OpenDebt {
  readonly lender: string
  readonly borrower: string
  /** > 0. */
  tokens: number
  /** Start of the debt, the oldest over its targets; undefined if it has been settled since. */
  sinceMs: number | undefined
}

/**
 * Open debts at a sample, of one target or summed over all: one entry per lender and borrower. With several targets two
 * jobs may owe each other.
 *
 * @param target  empty = all.
 * @returns       undefined if transfers after that sample are no longer in memory.
 * @complexity    O(open pairs + transfers after the sample).
 */
export function debtsAt(monitor: ClusterMonitor, sample: number, target: string): OpenDebt[] | undefined {
  if (!monitor.journal.reaches(sample)) return undefined
  const debts = new Map<string, OpenDebt>()
  const of = (lender: string, borrower: string): OpenDebt => {
    const key = `${lender}\u0000${borrower}`
    let debt = debts.get(key)
    if (!debt) debts.set(key, (debt = { lender, borrower, tokens: 0, sinceMs: undefined }))
    return debt
  }
  for (const name of target === '' ? monitor.targets.map((t) => t.target) : [target]) {
    for (const pair of monitor.loop.controllers.pairs(name)?.pairs() ?? []) {
      const debt = of(pair.lender, pair.borrower)
      debt.tokens += pair.outstanding
      const sinceMs = monitor.source.toUnixMs(pair.sinceNs)
      debt.sinceMs = Math.min(debt.sinceMs ?? sinceMs, sinceMs)
    }
  }
  for (const { targets } of monitor.journal.back(monitor.sample, sample)) {
    for (const { target: name, moves } of targets) {
      if (target !== '' && name !== target) continue
      for (const { lender, borrower, lent, reclaimed } of moves) of(lender, borrower).tokens -= lent - reclaimed
    }
  }
  const atMs = monitor.recent.raw.totals.atMs(sample)
  const open = [...debts.values()].filter((d) => d.tokens !== 0)
  for (const d of open) if (d.sinceMs !== undefined && d.sinceMs > atMs) d.sinceMs = undefined
  return open.sort(
    (a, b) => b.tokens - a.tokens || byCodeUnit(a.lender, b.lender) || byCodeUnit(a.borrower, b.borrower),
  )
}

/** Largest debts that involve a shown job. */
export function pairColumns(debts: readonly OpenDebt[], shown: ReadonlySet<string>): PairColumns {
  const listed = debts.filter((d) => shown.has(d.lender) || shown.has(d.borrower)).slice(0, TABLE_PAIRS)
  return {
    lender: listed.map((d) => d.lender),
    borrower: listed.map((d) => d.borrower),
    tokens: listed.map((d) => d.tokens),
  }
}

/** Debts between one job and others; their sum is the job's record. */
export function pairsOf(debts: readonly OpenDebt[], jobId: string): JobPairs {
  const jobPairs = debts.flatMap(({ lender, borrower, tokens, sinceMs }) => {
    if (lender === jobId) return [{ other: borrower, tokens, sinceMs }]
    return borrower === jobId ? [{ other: lender, tokens: -tokens, sinceMs }] : []
  })
  const listed = jobPairs.slice(0, JOB_PAIRS)
  return {
    other: listed.map((p) => p.other),
    tokens: listed.map((p) => p.tokens),
    sinceMs: listed.map((p) => p.sinceMs ?? null),
    more: jobPairs.length - listed.length,
    rest: jobPairs.slice(JOB_PAIRS).reduce((sum, p) => sum + p.tokens, 0),
  }
}

interface Line extends LedgerLine {
  tokens: number
}

/** Adds one transfer to the line of its second, target, other job and kind. */
function add(lines: Map<string, Line>, jobId: string, atMs: number, move: LentOrBack & { target: string }): void {
  const { target, lender, borrower, kind, tokens } = move
  if (tokens === 0) return
  const isLender = lender === jobId
  if (!isLender && borrower !== jobId) return
  const other = isLender ? borrower : lender
  const direction = kind === 'lend' ? (isLender ? 'lent' : 'borrowed') : isLender ? 'reclaimed' : 'repaid'
  const second = Math.floor(atMs / 1000) * 1000
  const key = `${second} ${direction} ${target}\u0000${other}`
  const line = lines.get(key)
  // A repayment reduces the lender's record and increases the borrower's.
  const effect = isLender === (kind === 'lend') ? tokens : -tokens
  if (line) line.tokens += effect
  else lines.set(key, { atMs: second, target, other, kind: direction, tokens: effect })
}

interface LentOrBack {
  readonly lender: string
  readonly borrower: string
  readonly kind: 'lend' | 'reclaim'
  readonly tokens: number
}

/**
 * Newest lines of a job's ledger up to a sample, newest first: from memory, and from the history where memory does not
 * cover the window.
 *
 * @param target  empty = all.
 */
export function ledgerOf(
  monitor: ClusterMonitor,
  { jobId, target, sample, windowMs }: { jobId: string; target: string; sample: number; windowMs: number },
  limit: number,
): LedgerLine[] {
  const lines = new Map<string, Line>()
  const toMs = monitor.recent.raw.totals.atMs(sample)
  const fromMs = toMs - windowMs
  for (const { atMs, targets } of monitor.journal.back(sample)) {
    // One more than requested: the last second may not be complete yet.
    if (atMs < fromMs || (lines.size > limit && !hasSecond(lines, atMs))) break
    for (const { target: name, moves } of targets) {
      if (target !== '' && name !== target) continue
      for (const { lender, borrower, lent, reclaimed } of moves) {
        if (lender !== jobId && borrower !== jobId) continue
        add(lines, jobId, atMs, { target: name, lender, borrower, kind: 'lend', tokens: lent })
        add(lines, jobId, atMs, { target: name, lender, borrower, kind: 'reclaim', tokens: reclaimed })
      }
    }
  }
  const { fromMs: memoryMs } = monitor.journal
  if (lines.size < limit && memoryMs > fromMs) {
    // The first second in memory is incomplete: its line would appear twice.
    const before = Math.min(Math.floor(memoryMs / 1000) * 1000 - 1, toMs)
    const older = written(monitor, { jobId, ...(target === '' ? {} : { target }), fromMs, toMs: before, limit })
    for (const move of older) add(lines, jobId, move.atMs, move)
  }
  return [...lines.values()].sort((a, b) => b.atMs - a.atMs).slice(0, limit)
}

const hasSecond = (lines: ReadonlyMap<string, Line>, atMs: number): boolean =>
  [...lines.values()].at(-1)?.atMs === Math.floor(atMs / 1000) * 1000

type Query = Parameters<ClusterMonitor['history']['moves']>[0]

/** An unreadable history contributes nothing: its failure is reported elsewhere. */
function written(monitor: ClusterMonitor, query: Query): ReturnType<ClusterMonitor['history']['moves']> {
  try {
    return monitor.history.moves(query)
  } catch {
    return []
  }
}
