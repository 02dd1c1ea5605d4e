/** Sweep as a Slurm job array: batch script, submission, and record of submitted jobs. */
import { execFile } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import * as z from 'zod'
import { fail, ok, type Result } from '#core/base/result.ts'
import { reason, writeFileAtomic } from './sweep-files.ts'
import type { Chunk, Sweep } from './sweep-manifest.ts'
import { chunksOf } from './sweep-manifest.ts'

const run = promisify(execFile)

export const SCRIPT = 'sweep.sbatch'
const SUBMITTED = 'slurm.json'
/** Slurm's default limit of an array is 1,001 (MaxArraySize). */
const TASKS_MAX = 1000
/** Timeout of Slurm commands, which answer from memory. */
const ANSWER_MS = 30_000

export interface SlurmOptions {
  readonly partition?: string | undefined
  readonly account?: string | undefined
  readonly time?: string | undefined
  /** Most concurrent tasks. */
  readonly atOnce: number
  /** Program that runs a task, with its first arguments. */
  readonly command: readonly string[]
}

const submitted = z.object({
  version: z.literal(1),
  jobs: z.array(z.object({ id: z.string(), at: z.string(), array: z.string() })),
})
export type SubmittedJob = z.infer<typeof submitted>['jobs'][number]

/** Reason why a value is not accepted; undefined if it is. */
export const nameFault = (text: string): string | undefined =>
  /^\w[\w.,-]{0,127}$/.test(text) ? undefined : 'letters, digits, ., -, _ and commas'

export const timeFault = (text: string): string | undefined =>
  /^(?:\d{1,5}-\d{1,2}(?::\d{2}){0,2}|\d{1,6}(?::\d{2}){0,2})$/.test(text)
    ? undefined
    : 'minutes, H:MM:SS or D-HH:MM:SS, as sbatch takes it'

/** Quotes any text as one word for a POSIX shell. */
export const shellQuoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** Formats numbers as Slurm does: `0-3,7,9-10`. */
export function ranges(numbers: readonly number[]): string {
  const out: string[] = []
  for (let i = 0; i < numbers.length;) {
    let k = i
    while (numbers[k + 1] === (numbers[k] as number) + 1) k++
    out.push(k === i ? String(numbers[i]) : `${numbers[i]}-${numbers[k]}`)
    i = k + 1
  }
  return out.join(',')
}

/** Number of array tasks of a sweep: one per chunk, up to Slurm's limit. */
export const tasksOf = (sweep: Sweep): number => Math.min(TASKS_MAX, chunksOf(sweep.manifest).length)

/** Chunks of one task. */
export const chunksOfTask = (sweep: Sweep, task: number): Chunk[] => {
  const tasks = tasksOf(sweep)
  return chunksOf(sweep.manifest).filter((c) => c.index % tasks === task)
}

/**
 * Batch script of the array. Its #SBATCH lines only contain values checked by `nameFault` and `timeFault`; paths are quoted in the
 * shell part.
 */
export function scriptOf(sweep: Sweep, array: string, options: SlurmOptions): string {
  const { partition, account, time, command, atOnce } = options
  const dir = resolve(sweep.dir)
  return [
    '#!/bin/sh',
    '#SBATCH --job-name=sluice-sweep',
    `#SBATCH --array=${array}%${atOnce}`,
    '#SBATCH --output=logs/%A_%a.log',
    '#SBATCH --ntasks=1',
    ...(partition === undefined ? [] : [`#SBATCH --partition=${partition}`]),
    ...(account === undefined ? [] : [`#SBATCH --account=${account}`]),
    ...(time === undefined ? [] : [`#SBATCH --time=${time}`]),
    '',
    'set -eu',
    `cd -- ${shellQuoted(dir)}`,
    `exec ${[...command, 'sweep', 'task', dir].map(shellQuoted).join(' ')} "$SLURM_ARRAY_TASK_ID"`,
    '',
  ].join('\n')
}

const fileOf = (sweep: Sweep): string => join(sweep.dir, SUBMITTED)

/** Submitted jobs; empty if not known. */
export function submittedJobs(sweep: Sweep): SubmittedJob[] {
  try {
    const read = submitted.safeParse(JSON.parse(readFileSync(fileOf(sweep), 'utf8')))
    return read.success ? read.data.jobs : []
  } catch {
    return []
  }
}

/** Tasks of a job that are still in the queue, `123_[0-4] PENDING`; empty if there are none, or no Slurm here. */
export async function pendingTasks(id: string): Promise<string[]> {
  try {
    const { stdout } = await run('squeue', ['-h', '-j', id, '-o', '%i %T'], { timeout: ANSWER_MS, encoding: 'latin1' })
    return stdout.split('\n').filter((l) => l !== '')
  } catch {
    // Slurm forgets completed jobs, and then rejects their id.
    return []
  }
}

/**
 * Writes the script for the missing part and submits it.
 *
 * Failures: SLURM_RUNNING while tasks of an earlier submission remain; SLURM_MISSING without sbatch; SLURM_REFUSED with the output
 * of sbatch; SWEEP_NOT_WRITTEN.
 */
export async function submitSweep(
  sweep: Sweep,
  missing: readonly Chunk[],
  options: SlurmOptions,
  nowMs: number,
): Promise<Result<SubmittedJob>> {
  const what = 'The sweep was not submitted'
  const unaffected = 'Existing chunks are kept.'
  const earlier = submittedJobs(sweep)
  for (const { id } of earlier) {
    const pending = await pendingTasks(id)
    if (pending.length === 0) continue
    const next = `Wait for it, or scancel ${id}.`
    return fail({
      code: 'SLURM_RUNNING',
      what,
      why: `job ${id} has tasks left (${pending[0] ?? ''})`,
      unaffected,
      next,
    })
  }
  const tasks = tasksOf(sweep)
  const array = ranges([...new Set(missing.map((c) => c.index % tasks))].toSorted((a, b) => a - b))
  const script = join(sweep.dir, SCRIPT)
  try {
    mkdirSync(join(sweep.dir, 'logs'), { recursive: true })
    writeFileAtomic(script, scriptOf(sweep, array, options))
    chmodSync(script, 0o755)
  } catch (e) {
    return fail({ code: 'SWEEP_NOT_WRITTEN', what: `${script} was not written`, why: reason(e), unaffected })
  }
  let answer: string
  try {
    const output = await run('sbatch', ['--parsable', SCRIPT], {
      cwd: sweep.dir,
      timeout: ANSWER_MS,
      encoding: 'latin1',
    })
    answer = output.stdout.trim()
  } catch (e) {
    const { code, stderr } = e as { code?: unknown; stderr?: unknown }
    if (code === 'ENOENT') {
      const next = `Run it on a login node of the batch system (the script is ${script}), or without --slurm here.`
      return fail({ code: 'SLURM_MISSING', what, why: 'sbatch is not on the PATH', unaffected, next })
    }
    const why = typeof stderr === 'string' && stderr !== '' ? stderr.trim().slice(0, 500) : reason(e)
    return fail({ code: 'SLURM_REFUSED', what, why, unaffected, next: 'Correct the options for sbatch.' })
  }
  // `ID`, or `ID;CLUSTER`.
  const id = /^(\d+)(?:;|$)/.exec(answer)?.[1]
  if (id === undefined) {
    const why = `sbatch answered ${answer.slice(0, 200)}`
    return fail({ code: 'SLURM_REFUSED', what, why, unaffected, next: 'See squeue for what it submitted.' })
  }
  const job: SubmittedJob = { id, at: new Date(nowMs).toISOString(), array: `${array}%${options.atOnce}` }
  try {
    writeFileAtomic(fileOf(sweep), `${JSON.stringify({ version: 1, jobs: [...earlier, job] }, null, 1)}\n`)
  } catch (e) {
    const next = `Note the job id: job ${id} runs and writes its results anyway.`
    return fail({ code: 'SWEEP_NOT_WRITTEN', what: `Job ${id} was submitted but not recorded`, why: reason(e), next })
  }
  return ok(job)
}
