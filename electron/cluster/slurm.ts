/** Who a job belongs to and how many nodes it has, from Slurm's queue. */
import { shellQuote } from '#core/lustre/lctl.ts'
import type { NodeConnection } from './connection.ts'

export interface SlurmJob {
  readonly nodes: number
  readonly user: string
  readonly account: string
}

const COMMAND = `squeue -h -a -o ${shellQuote('%A|%D|%u|%a')}`

/** Jobs in the queue by Slurm job number; lines that are not four fields are left out. */
export function parseSqueue(text: string): Map<string, SlurmJob> {
  const jobs = new Map<string, SlurmJob>()
  for (const line of text.split('\n')) {
    const [number, nodes, user, account, more] = line.split('|')
    if (number === undefined || nodes === undefined || user === undefined || account === undefined) continue
    if (more !== undefined || !/^\d+$/.test(number) || !/^\d+$/.test(nodes)) continue
    jobs.set(number, { nodes: Number(nodes), user, account })
  }
  return jobs
}

/** The Slurm job number in a Lustre job id whose first part is `%j`; undefined when it has none. */
export const slurmNumber = (jobId: string): string | undefined => /^(\d+)(?:\.|$)/.exec(jobId)?.[1]

export class SlurmQueue {
  readonly #node: NodeConnection | undefined
  #jobs = new Map<string, SlurmJob>()

  constructor(node: NodeConnection | undefined) {
    this.#node = node
  }

  /** Reads the queue again; the old one is kept when it cannot be read. */
  async refresh(): Promise<void> {
    const result = await this.#node?.exec(COMMAND).catch(() => undefined)
    if (result?.code === 0) this.#jobs = parseSqueue(result.stdout)
  }

  find(jobId: string): SlurmJob | undefined {
    const number = slurmNumber(jobId)
    return number === undefined ? undefined : this.#jobs.get(number)
  }
}
