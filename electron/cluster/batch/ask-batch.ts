/**
 * The commands that batch systems are asked with, and which of them a server answers.
 *
 * Text comes first: `squeue --json` tells everything of every job, some 6 KB each, of which six fields are wanted.
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
  /** undefined: it is not what this program prints. */
  readonly parse: (text: string) => BatchReading | undefined
}

/** In the order tried. */
export const BATCH_WAYS: readonly BatchWay[] = [
  { name: 'squeue', system: 'slurm', command: `squeue -h -a -o ${shellQuote(SQUEUE_FORMAT)}`, parse: parseSqueueText },
  { name: 'squeue --json', system: 'slurm', command: 'squeue --json', parse: parseSqueueJson },
  { name: 'scontrol', system: 'slurm', command: 'scontrol -o show job', parse: parseScontrolJobs },
  { name: 'qstat', system: 'pbs', command: 'qstat -f -F json', parse: parseQstatJson },
]

/** undefined: all are tried in their order. The emulated scheduler is a Slurm that prints lines. */
export const firstWay = (kind: ClusterSource['kind']): BatchWay | undefined =>
  kind === 'EMULATED' ? BATCH_WAYS[0] : undefined

export type BatchAnswer =
  | { readonly ok: true; readonly way: BatchWay; readonly jobs: readonly BatchJob[]; readonly skipped: number }
  | { readonly ok: false; readonly why: string }

const REASON_MAX = 200

function judge(way: BatchWay, { stdout, stderr, code }: ExecResult): BatchAnswer {
  if (code !== 0) return { ok: false, why: firstLine(stderr, REASON_MAX) || `${way.name} ended with ${code}` }
  const read = way.parse(stdout)
  if (!read) return { ok: false, why: `${way.name} printed what it should not` }
  // Lines of which none is a job: another program, or another format.
  if (read.jobs.length === 0 && read.skipped > 0)
    return { ok: false, why: `nothing of what ${way.name} printed is a job` }
  return { ok: true, way, ...read }
}

/**
 * Reads the queue.
 *
 * @param way  that answered before; the others are tried when it is not there any more.
 */
export async function askBatch(
  read: (command: string) => Promise<Result<ExecResult>>,
  way: BatchWay | undefined,
): Promise<BatchAnswer> {
  const whys: string[] = []
  for (const w of way ? [way] : BATCH_WAYS) {
    const ran = await read(w.command)
    // A server that cannot be reached for one of them cannot be for the next.
    if (!ran.ok) return { ok: false, why: formatReason(ran.error) }
    const answer = judge(w, ran.value)
    if (answer.ok) return answer
    whys.push(answer.why)
  }
  return { ok: false, why: [...new Set(whys)].join('; ') }
}
