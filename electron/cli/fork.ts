/** `sluice fork --history FILE`: a stretch of a history or of a recording as a scenario, with what the model does not know. */
import { writeFileSync } from 'node:fs'
import { Command, InvalidArgumentError, Option } from 'commander'
import { DEFAULT_LOOP_OPTIONS } from '#core/adaptbf/loop-options.ts'
import { forkScenario } from '#core/sandbox/fork.ts'
import type { HistoryReader } from '../history/reader.ts'
import { readerOf } from '../history/open-recording.ts'
import { inputsFromHistory, type ForkAround } from '../host/sandbox/fork-history.ts'
import { withForeign } from './foreign.ts'
import { line, must, plain, stop, writeOut } from './output.ts'

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
  withForeign(async (files) => write(must(readerOf(must(await files.open(flags.history)), flags.cluster)), flags))

async function write(reader: HistoryReader, flags: ForkFlags): Promise<void> {
  const kept = reader.kept()
  const toMs = flags.to ?? (kept?.toMs ?? 0) + 1
  const fromMs = flags.from ?? Math.max(kept?.fromMs ?? 0, toMs - 60_000)
  if (toMs <= fromMs)
    stop({ code: 'BAD_SPAN', what: 'There is no such stretch', why: 'its end is not after its beginning' }, 2)
  const control = { controller: 'none', mode: 'observe', options: DEFAULT_LOOP_OPTIONS } as const
  const around: ForkAround = {
    kind: 'RECORDED',
    ...{
      cluster: reader.cluster,

      servers: [],
      mdts: [],
      intervalMs: flags.interval,
      scenario: undefined,
    },
    control: { ...control, maxRate: flags.maxRate, periodMs: 1000 },
    said: 'Releases, CPTs, policies, the controller and T are not kept in a file: T is as given on the command line.',
  }
  const inputs = must(inputsFromHistory(around, reader, { fromMs, toMs }, { workload: flags.workload, isReplay: true }))
  reader.close()
  const { text, scenario, thinning } = must(forkScenario(inputs))
  if (flags.out === undefined) {
    await writeOut(text)
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
  line(`${plain(flags.out)}: ${scenario.jobs.length} jobs, one simulated RPC for ${thinning}`)
  for (const t of scenario.fork?.unknown ?? []) line(`? ${plain(t)}`)
}

export function forkCommand(): Command {
  return new Command('fork')
    .description('a stretch of what was recorded as a scenario')
    .requiredOption('--history <file>', 'a recording, or a history; a console may have it open')
    .option('--cluster <name>', 'the newest by default')
    .option('--from <time>', 'beginning, ISO 8601; a minute before the end by default', instant)
    .option('--to <time>', 'end, not included; that of what is kept by default', instant)
    .addOption(
      new Option('--workload <kind>', 'recorded rates, or processes that wait for answers')
        .choices(['open', 'closed'])
        .default('closed'),
    )
    .option('--max-rate <rpcs>', 'T: what an OST serves at most where it was never saturated, RPC/s', positive, 500)
    .option('--interval <ms>', 'from one raw sample to the next', positive, 1000)
    .option('-o, --out <file>', 'where to write it; standard output by default')
    .option('--force', 'replace a file that is there')
    .action(fork)
}
