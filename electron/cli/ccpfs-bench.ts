/** `sluice ccpfs bench`: the workloads of the SeqDLM paper as processes on this machine, under each lock manager. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command, InvalidArgumentError, Option } from 'commander'
import { DLM_BASIC, DLM_DATATYPE, DLM_LUSTRE, SEQDLM, type DlmPolicy } from '#core/seqdlm/policy.ts'
import type { PublishedRatio } from '../ccpfs/bench/model.ts'
import type { BenchPlan, BenchRun } from '../ccpfs/bench/run.ts'
import { WORKLOADS, type WorkloadName } from '../ccpfs/bench/workloads.ts'
import { EXIT, jsonText, line, must, sentence } from './output.ts'

/** Lock managers by the value of --locks. */
export const LOCK_MANAGERS: Readonly<Record<string, DlmPolicy>> = {
  seqdlm: SEQDLM,
  basic: DLM_BASIC,
  lustre: DLM_LUSTRE,
  datatype: DLM_DATATYPE,
}

const KIB = 1024
const MIB = 1024 * KIB
const BAR = 40

const whole = (least: number, most: number) => (text: string) => {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : -1
  if (value < least || value > most) throw new InvalidArgumentError(`A whole number from ${least} to ${most}.`)
  return value
}

const listOf =
  (known: readonly string[]) =>
  (text: string): string[] => {
    const names = text === 'all' ? [...known] : text.split(',').map((part) => part.trim())
    const odd = names.find((name) => !known.includes(name))
    if (odd !== undefined) throw new InvalidArgumentError(`One or more of ${known.join(', ')}, or all.`)
    return [...new Set(names)]
  }

interface BenchFlags {
  readonly workloads: readonly string[]
  readonly locks: readonly string[]
  readonly clients: number
  readonly writeKib: number
  readonly mib: number
  readonly servers: number
  readonly stripes: number
  readonly syncWrites?: true
  readonly data?: string
  readonly json?: true
}

interface Compared extends BenchRun {
  readonly modeled_mb_s: number
}

async function bench(flags: BenchFlags): Promise<void> {
  const [{ runBench }, { modeled, PUBLISHED }] = await Promise.all([
    import('../ccpfs/bench/run.ts'),
    import('../ccpfs/bench/model.ts'),
  ])
  const { clients, writeKib, mib, servers, stripes, json } = flags
  const folder = mkdtempSync(join(flags.data ?? tmpdir(), 'sluice-ccpfs-'))
  const writeBytes = writeKib * KIB
  const plan: BenchPlan = {
    workloads: flags.workloads as readonly WorkloadName[],
    policies: flags.locks.map((name) => LOCK_MANAGERS[name] as DlmPolicy),
    size: { clients, writeBytes, writes: Math.max(1, Math.floor((mib * MIB) / writeBytes)) },
    servers,
    stripes,
    stripeSize: MIB,
    syncsWrites: flags.syncWrites ?? false,
    folder,
    program: { path: join(import.meta.dirname, 'sluice.mjs'), args: ['ccpfs', 'bench-process'] },
  }
  const runs: Compared[] = []
  if (!json) {
    line(
      `${clients} client processes, ${writeKib} KiB a write, ${mib} MiB each; ${servers} server(s), ${stripes} stripe(s)`,
    )
    line('workload       locks         MB/s    total  waiting  modeled  bytes')
  }
  try {
    const ended = await runBench(plan, (run) => {
      const policy = plan.policies.find(({ name }) => name === run.locks) as DlmPolicy
      const compared = { ...run, modeled_mb_s: modeled(plan, run.workload, policy) }
      runs.push(compared)
      if (json) line(jsonText(compared))
      else print(compared)
    })
    if (!json) printRatios(runs, PUBLISHED)
    must(ended, EXIT.failed)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  if (runs.some(({ verified }) => !verified)) process.exitCode = EXIT.failed
}

const rate = (mbPerS: number): string => mbPerS.toFixed(mbPerS < 10 ? 1 : 0)

function print(run: Compared): void {
  const state = run.verified ? 'right' : `WRONG: ${run.difference}`
  line(
    sentence(
      `${run.workload.padEnd(14)} ${run.locks.padEnd(12)} ${rate(run.mb_s).padStart(6)} ${rate(run.total_mb_s).padStart(8)}` +
        ` ${`${(100 * run.lock_share).toFixed(0)} %`.padStart(8)} ${rate(run.modeled_mb_s).padStart(8)}  ${state}`,
    ),
  )
}

/** Bars of the bandwidths, and the ratios of SeqDLM to the others: measured, modeled and published. */
function printRatios(runs: readonly Compared[], known: readonly PublishedRatio[]): void {
  const most = Math.max(...runs.map((r) => r.mb_s))
  line('')
  for (const r of runs) {
    const bar = '#'.repeat(Math.max(1, Math.round((BAR * r.mb_s) / most)))
    line(`${r.workload.padEnd(14)} ${r.locks.padEnd(12)} ${bar} ${rate(r.mb_s)} MB/s`)
  }
  const own = runs.filter((r) => r.locks === SEQDLM.name)
  if (own.length === 0 || own.length === runs.length) return
  line('')
  line('SeqDLM over    workload       measured  modeled  published')
  for (const seq of own) {
    for (const r of runs.filter((o) => o.workload === seq.workload && o !== seq)) {
      const paper = known.find((p) => p.workload === r.workload && p.over.name === r.locks)
      const published = paper ? `${paper.ratio} (${paper.source})` : '-'
      const measured = (seq.mb_s / r.mb_s).toFixed(2)
      const model = (seq.modeled_mb_s / r.modeled_mb_s).toFixed(2)
      line(
        sentence(
          `${r.locks.padEnd(14)} ${r.workload.padEnd(14)} ${measured.padStart(8)} ${model.padStart(8)}  ${published}`,
        ),
      )
    }
  }
  line(
    'MB/s is that of the writes; total includes the flush to stable storage. The model has the costs of the paper’s machines.',
  )
}

export const benchCommand = (): Command =>
  new Command('bench')
    .description('measure the lock managers with client processes on this machine, and read every byte back')
    .addOption(
      new Option('--workloads <names>', `${WORKLOADS.join(', ')}, or all`)
        .argParser(listOf(WORKLOADS))
        .default(['n-1-strided'], 'n-1-strided'),
    )
    .addOption(
      new Option('--locks <names>', `${Object.keys(LOCK_MANAGERS).join(', ')}, or all`)
        .argParser(listOf(Object.keys(LOCK_MANAGERS)))
        .default(Object.keys(LOCK_MANAGERS), 'all'),
    )
    .option('--clients <n>', 'client processes', whole(1, 256), 16)
    .option('--write-kib <n>', 'size of a write, KiB; of a line of a tile', whole(1, 16_384), 64)
    .option('--mib <n>', 'data of each process, MiB', whole(1, 4096), 64)
    .option('--servers <n>', 'lock and data servers', whole(1, 64), 1)
    .option('--stripes <n>', 'stripes of a file, of 1 MiB', whole(1, 64), 1)
    .option('--sync-writes', 'servers answer a flush only when its data are on stable storage')
    .option('--data <folder>', 'folder for the data, removed afterwards (default: the temporary folder)')
    .option('--json', 'one JSON object per run')
    .action(bench)

/** Process of a benchmark; started by `bench`. */
export const benchProcessCommand = (): Command =>
  new Command('bench-process').description('process of a benchmark; started by sluice ccpfs bench').action(async () => {
    const { runBenchProcess } = await import('../ccpfs/bench/bench-process.ts')
    await runBenchProcess()
  })
