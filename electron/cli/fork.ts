/** `sluice fork --history FILE`: writes a range of a history or recording as a scenario, with the limits of the model. */
import { writeFileSync } from 'node:fs'
import { Command, InvalidArgumentError, Option } from 'commander'
import { DEFAULT_LOOP_OPTIONS } from '#core/adaptbf/loop-options.ts'
import { forkScenario } from '#core/sandbox/fork.ts'
import type { HistoryReader } from '../history/reader.ts'
import { inputsFromHistory, type ForkAround } from '../host/sandbox/fork-history.ts'
import { withRecording } from './foreign.ts'
import { jsonText, line, must, plain, stop, writeOut } from './output.ts'

interface ForkFlags {
  readonly history: string
  readonly cluster?: string
  readonly from?: number
  readonly to?: number
  readonly workload: 'open' | 'closed'
  readonly maxRate: number
  readonly interval: number
  readonly out?: string
  readonly force?: true
  readonly json?: true
}

const instant = (text: string): number => {
  const ms = /^\d{10,16}$/.test(text) ? Number(text) : Date.parse(text)
  if (Number.isNaN(ms))
    throw new InvalidArgumentError('An ISO 8601 time, such as 2026-01-02T03:04Z, or Unix milliseconds.')
  return ms
}

const positive = (text: string): number => {
  const n = Number(text)
  if (!(n > 0 && n <= 1e9)) throw new InvalidArgumentError('A number above 0.')
  return n
}

const fork = (flags: ForkFlags): Promise<void> =>
  withRecording(flags.history, flags.cluster, ({ reader }) => write(reader, flags))

async function write(reader: HistoryReader, flags: ForkFlags): Promise<void> {
  const kept = reader.extent()
  const toMs = flags.to ?? (kept?.toMs ?? 0) + 1
  const fromMs = flags.from ?? Math.max(kept?.fromMs ?? 0, toMs - 60_000)
  if (toMs <= fromMs)
    stop({ code: 'BAD_SPAN', what: 'The range is not valid', why: 'its end is not after its beginning' }, 2)
  const control = { controller: 'none', mode: 'observe', options: DEFAULT_LOOP_OPTIONS } as const
  const around: ForkAround = {
    kind: 'RECORDED',
    cluster: reader.cluster,

    servers: [],
    mdts: [],
    intervalMs: flags.interval,
    scenario: undefined,
    control: { ...control, maxRate: flags.maxRate, periodMs: 1000 },
    notice: 'Releases, CPTs, policies, the controller and T are not recorded: T is that of the command line.',
  }
  const inputs = must(inputsFromHistory(around, reader, { fromMs, toMs }, { workload: flags.workload, isReplay: true }))
  const { text, scenario, thinning } = must(forkScenario(inputs))
  const facts = {
    cluster: inputs.cluster,
    jobs: scenario.jobs.length,
    thinning,
    planes: scenario.fork?.planes ?? [],
    unknown: scenario.fork?.unknown ?? [],
    in_range: scenario.fork?.in_range ?? [],
  }
  if (flags.out === undefined) {
    if (flags.json) line(jsonText({ ...facts, scenario: text }))
    else await writeOut(text)
    return
  }
  try {
    writeFileSync(flags.out, text, { flag: flags.force ? 'w' : 'wx' })
  } catch (e) {
    const next = 'Name another file, or pass --force.'
    stop(
      {
        code: 'NOT_WRITTEN',
        what: `${flags.out} was not written`,
        why: e instanceof Error ? e.message : String(e),
        next,
      },
      1,
    )
  }
  if (flags.json) {
    line(jsonText({ ...facts, file: flags.out }))
    return
  }
  line(
    `${plain(flags.out)}: ${scenario.jobs.length} jobs, ${thinning === 1 ? 'every RPC is simulated' : `time compressed ${thinning} times`}`,
  )
  for (const t of facts.unknown) line(`? ${plain(t)}`)
}

export function forkCommand(): Command {
  return new Command('fork')
    .description('turn a range of a history or recording into a scenario')
    .requiredOption('--history <file>', 'recording or history; may be in use by a console')
    .option('--cluster <name>', 'cluster (default: the newest)')
    .option('--from <time>', 'start, ISO 8601 (default: one minute before the end)', instant)
    .option('--to <time>', 'end, exclusive (default: end of the data)', instant)
    .addOption(
      new Option('--workload <kind>', 'open: recorded rates; closed: processes that wait for answers')
        .choices(['open', 'closed'])
        .default('closed'),
    )
    .option(
      '--max-rate <rpcs>',
      'capacity to assume for OSTs that were never saturated in the range (T), RPC/s',
      positive,
      500,
    )
    .option('--interval <ms>', 'interval of raw samples, ms', positive, 1000)
    .option('-o, --out <file>', 'output file (default: standard output)')
    .option('--force', 'overwrite an existing file')
    .option(
      '--json',
      'one JSON document: the planes carried, the limits of the model, and the scenario unless --out is given',
    )
    .action(fork)
}
