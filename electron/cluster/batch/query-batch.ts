/**
 * Commands that query batch systems, and the choice of the one that a server answers.
 *
 * Text is tried first: `squeue --json` prints all fields of every job, some 6 KB each, of which six are needed.
 */
import { firstLine } from '#core/base/plain-text.ts'
import { formatReason, type Result } from '#core/base/result.ts'
import { shellQuote } from '#core/lustre/lctl.ts'
import type { BatchJob, BatchReading, BatchSystem } from '#core/batch/batch-job.ts'
import { parseScontrolJobs } from '#core/batch/scontrol.ts'
import { parseSqueueText, SQUEUE_FORMAT } from '#core/batch/squeue-text.ts'
import type { ClusterSource, ExecResult } from '../../base/connection.ts'
import { parseQstatJson } from './qstat-json.ts'
import { parseSqueueJson } from './squeue-json.ts'

export interface BatchWay {
  readonly name: 'squeue' | 'squeue --json' | 'scontrol' | 'qstat'
  readonly system: BatchSystem
  readonly command: string
  /** undefined: not the output of this program. */
  readonly parse: (text: string) => BatchReading | undefined
}

/** Ways to query the batch system, in the order in which they are tried. */
export const BATCH_WAYS: readonly BatchWay[] = [
  { name: 'squeue', system: 'slurm', command: `squeue -h -a -o ${shellQuote(SQUEUE_FORMAT)}`, parse: parseSqueueText },
  { name: 'squeue --json', system: 'slurm', command: 'squeue --json', parse: parseSqueueJson },
  { name: 'scontrol', system: 'slurm', command: 'scontrol -o show job', parse: parseScontrolJobs },
  { name: 'qstat', system: 'pbs', command: 'qstat -f -F json', parse: parseQstatJson },
]

/**
 * Known command of a cluster; undefined: all are tried in order. The emulated scheduler is a Slurm that prints lines.
 */
export const firstWay = (kind: ClusterSource['kind']): BatchWay | undefined =>
  kind === 'EMULATED' ? BATCH_WAYS[0] : undefined

export type BatchAnswer =
  | { readonly ok: true; readonly way: BatchWay; readonly jobs: readonly BatchJob[]; readonly skipped: number }
  | { readonly ok: false; readonly why: string }

const REASON_MAX = 200

function judge(way: BatchWay, { stdout, stderr, code }: ExecResult): BatchAnswer {
  if (code !== 0) return { ok: false, why: firstLine(stderr, REASON_MAX) || `${way.name} exited with ${code}` }
  const read = way.parse(stdout)
  if (!read) return { ok: false, why: `${way.name} printed invalid output` }
  // No line is a job: another program, or another format.
  if (read.jobs.length === 0 && read.skipped > 0) return { ok: false, why: `no line of ${way.name} is a job` }
  return { ok: true, way, ...read }
}

/**
 * Reads the queue.
 *
 * @param way  the only one that is tried: it answered before; undefined: all, in order.
 */
export async function queryBatch(
  read: (command: string) => Promise<Result<ExecResult>>,
  way: BatchWay | undefined,
): Promise<BatchAnswer> {
  const whys: string[] = []
  for (const w of way ? [way] : BATCH_WAYS) {
    const ran = await read(w.command)
    // A server that cannot be reached for one command cannot be for the next.
    if (!ran.ok) return { ok: false, why: formatReason(ran.error) }
    const answer = judge(w, ran.value)
    if (answer.ok) return answer
    whys.push(answer.why)
  }
  return { ok: false, why: [...new Set(whys)].join('; ') }
}
