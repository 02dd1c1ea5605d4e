/** `sluice history`: contents of a history file or recording, CSV export, and recording of a range. */
import { Command, InvalidArgumentError, Option } from 'commander'
import { csvQuery, groupBy, TIERS, type CsvQuery } from '#core/api/history.ts'
import { csvParts } from '../history/csv.ts'
import { FileReader } from '../history/file-reader.ts'
import type { CheckedFile } from '../history/open-recording.ts'
import type { HistoryReader } from '../history/reader.ts'
import { writeRecording } from '../history/recording.ts'
import { withForeign, withRecording } from './foreign.ts'
import { jsonText, line, must, plain, stop, writeOut } from './output.ts'

interface Span {
  readonly from?: number
  readonly to?: number
  readonly cluster?: string
}

const instant = (text: string): number => {
  const ms = /^\d{10,16}$/.test(text) ? Number(text) : Date.parse(text)
  if (Number.isNaN(ms))
    throw new InvalidArgumentError('An ISO 8601 time, such as 2026-01-02T03:04Z, or Unix milliseconds.')
  return ms
}

const iso = (ms: number): string => new Date(ms).toISOString()

/** Range given by --from and --to, by default everything in the file. */
function spanOf(reader: HistoryReader, { from, to }: Span): { fromMs: number; toMs: number } {
  const kept = reader.extent()
  const fromMs = from ?? kept?.fromMs ?? 0
  const toMs = to ?? (kept?.toMs ?? 0) + 1
  if (toMs > fromMs) return { fromMs, toMs }
  return stop({ code: 'BAD_SPAN', what: 'The range is not valid', why: 'its end is not after its beginning' }, 2)
}

const info = (file: string, options: { readonly json?: true }): Promise<void> =>
  withForeign(async (files) => {
    const { checked, db, close } = must(await files.open(file))
    const clusters = checked.clusters.map(({ id, kind, name }) => {
      const reader = new FileReader(db, id, { name, isOwner: false })
      const tiers = TIERS.map((tier) => ({ tier, kept: reader.extentOf(tier) ?? null }))
      return { kind, name, targets: reader.allTargets().length, tiers }
    })
    close()
    const { bytes, facts } = checked
    if (options.json) line(jsonText({ file, bytes, recording: facts ?? null, clusters }))
    else printInfo(file, checked, clusters)
  })

interface ClusterInfo {
  readonly kind: string
  readonly name: string
  readonly targets: number
  readonly tiers: readonly { readonly tier: string; readonly kept: { fromMs: number; toMs: number } | null }[]
}

function printInfo(file: string, { bytes, facts }: CheckedFile, clusters: readonly ClusterInfo[]): void {
  line(`${plain(file)}: ${bytes} bytes${facts ? ', a recording' : ''}`)
  for (const c of clusters) {
    line(`${c.kind} ${plain(c.name)}: ${c.targets} targets`)
    for (const { tier, kept } of c.tiers) if (kept) line(`  ${tier.padEnd(5)}${iso(kept.fromMs)} to ${iso(kept.toMs)}`)
  }
}

type CsvFlags = Span & Pick<CsvQuery, 'what' | 'by'> & { tier?: string }

const csv = (file: string, options: CsvFlags): Promise<void> =>
  withRecording(file, options.cluster, ({ reader }) => writeCsv(reader, options))

async function writeCsv(reader: HistoryReader, options: CsvFlags): Promise<void> {
  const query = csvQuery.parse({
    ...spanOf(reader, options),
    what: options.what,
    by: options.by,
    tier: options.tier ?? null,
  })
  for await (const { text } of must(csvParts(reader, query))) await writeOut(text)
}

const record = (file: string, to: string, options: Span): Promise<void> =>
  withRecording(file, options.cluster, async ({ reader, db, cluster }) => {
    const span = spanOf(reader, options)
    const written = must(await writeRecording(db, cluster, span, to))
    line(`${plain(written.file)}: ${written.bytes} bytes, ${iso(span.fromMs)} to ${iso(span.toMs)}`)
  })

const spanned = (command: Command): Command =>
  command
    .option('--from <time>', 'start, ISO 8601 (default: start of the data)', instant)
    .option('--to <time>', 'end, exclusive (default: end of the data)', instant)
    .option('--cluster <name>', 'cluster (default: the newest)')

export function historyCommand(): Command {
  const command = new Command('history').description('inspect and export a history or recording').exitOverride()
  command
    .command('info')
    .description('clusters, and the range of each resolution')
    .argument('<file>', 'recording or history; may be in use by a console')
    .option('--json', 'one JSON document')
    .action(info)
  spanned(command.command('csv'))
    .description('write a range as CSV to standard output')
    .argument('<file>', 'recording or history; may be in use by a console')
    .addOption(new Option('--what <table>', 'table').choices(csvQuery.shape.what.options).default('jobs'))
    .addOption(new Option('--tier <tier>', 'resolution (default: the finest that covers the range)').choices(TIERS))
    .addOption(new Option('--by <group>', 'group jobs by').choices(groupBy.options).default('job'))
    .action(csv)
  spanned(command.command('record'))
    .description('write a range as a recording')
    .argument('<file>', 'history or recording; may be in use by a console')
    .argument('<to>', 'new file, NAME.qosrec')
    .action(record)
  return command
}
