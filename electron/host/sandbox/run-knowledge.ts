/** What a run itself leaves open, beside what its scenario does. */
import type { KnowledgeLine } from '#core/api/sandbox.ts'
import type { Comparison } from '#core/sandbox/comparison.ts'
import type { WithoutIdle } from '#core/sandbox/idle-planes.ts'

/** Seeds below which the ends of a band are hardly more than the extremes that were seen. */
const FEW_SEEDS = 10

export function runKnowledge(
  { rest, jobs }: Pick<Comparison, 'rest' | 'jobs'>,
  seeds: number,
  left: WithoutIdle['left'],
): KnowledgeLine[] {
  const lines: KnowledgeLine[] = []
  const number = (n: number): string => Math.round(n).toLocaleString('en-GB')
  if (rest.jobs > 0) {
    const text = `${number(rest.jobs)} jobs that asked for least are run but not listed: together ${number(rest.rpcs)} RPC/s and ${number(rest.bps / 1e6)} MB/s in the baseline.`
    lines.push({ level: 'watch', text })
  }
  if (!jobs.role.includes('hog')) {
    lines.push({
      level: 'ok',
      text: 'No job of the baseline takes more than its fair share by nodes: no hog, no victim.',
    })
  }
  if (seeds === 1) {
    lines.push({ level: 'watch', text: 'One seed: how far the figures scatter is not known.' })
  } else if (seeds < FEW_SEEDS) {
    lines.push({ level: 'watch', text: `${seeds} seeds: the ends of the bands are uncertain.` })
  }
  if (left.length > 0) {
    const names = left.map((plane) => (plane === 'locks' ? 'the ccPFS' : 'the data nodes')).join(' and ')
    const text = `Not run, because no variant changes them and they share nothing with the Lustre servers: ${names}.`
    lines.push({ level: 'ok', text })
  }
  return lines
}
