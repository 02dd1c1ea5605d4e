/** `sluice history`: what a history file or a recording holds, as text, as CSV, and as a recording of a stretch. */
import { Command, InvalidArgumentError, Option } from 'commander'
import { csvQuery, groupBy, TIERS, type CsvQuery } from '#core/api/history.ts'
import type { ForeignFiles } from '../foreign/foreign-files.ts'
import { csvParts } from '../history/csv.ts'
import { FileReader } from '../history/file-reader.ts'
import { readerOf, type CheckedFile } from '../history/open-recording.ts'
import type { HistoryReader } from '../history/reader.ts'
import { writeRecording } from '../history/recording.ts'
import { withForeign } from './foreign.ts'
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

/** The stretch named, or everything that is kept. */
function spanOf(reader: HistoryReader, { from, to }: Span): { fromMs: number; toMs: number } {
  const kept = reader.kept()
  const fromMs = from ?? kept?.fromMs ?? 0
  const toMs = to ?? (kept?.toMs ?? 0) + 1
  if (toMs > fromMs) return { fromMs, toMs }
  return stop({ code: 'BAD_SPAN', what: 'There is no such stretch', why: 'its end is not after its beginning' }, 2)
}

const info = (file: string, options: { readonly json?: true }): Promise<void> =>
  withForeign(async (files) => {
    const { checked, db, close } = must(await files.open(file))
    const clusters = checked.clusters.map(({ id, kind, name }) => {
      const reader = new FileReader(db, id, { name, isOwner: false })
      const tiers = TIERS.map((tier) => ({ tier, kept: reader.keptOf(tier) ?? null }))
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

const csv = (file: string, options: CsvFlags): Promise<void> => withForeign((files) => writeCsv(files, file, options))

async function writeCsv(files: ForeignFiles, file: string, options: CsvFlags): Promise<void> {
  const reader = must(readerOf(must(await files.open(file)), options.cluster))
  const query = csvQuery.parse({
    ...spanOf(reader, options),
    ...{ what: options.what, by: options.by, tier: options.tier ?? null },
  })
  for await (const { text } of must(csvParts(reader, query))) await writeOut(text)
  reader.close()
}

const record = (file: string, to: string, options: Span): Promise<void> =>
  withForeign((files) => writeRange(files, { file, to }, options))

async function writeRange(
  files: ForeignFiles,
  { file, to }: { file: string; to: string },
  options: Span,
): Promise<void> {
  const opened = must(await files.open(file))
  const reader = must(readerOf(opened, options.cluster))
  const chosen = opened.checked.clusters.findLast((c) => options.cluster === undefined || c.name === options.cluster)
  const span = spanOf(reader, options)
  const written = must(await writeRecording(opened.db, chosen?.id ?? 0, span, to))
  reader.close()
  line(`${plain(written.file)}: ${written.bytes} bytes, ${iso(span.fromMs)} to ${iso(span.toMs)}`)
}

const spanned = (command: Command): Command =>
  command
    .option('--from <time>', 'beginning, ISO 8601; that of what is kept by default', instant)
    .option('--to <time>', 'end, not included; that of what is kept by default', instant)
    .option('--cluster <name>', 'the newest by default')

export function historyCommand(): Command {
  const command = new Command('history').description('what a history or a recording holds').exitOverride()
  command
    .command('info')
    .description('clusters, resolutions and how far they reach')
    .argument('<file>', 'a recording, or a history; a console may have it open')
    .option('--json', 'one JSON document')
    .action(info)
  spanned(command.command('csv'))
    .description('a stretch as CSV on standard output')
    .argument('<file>', 'a recording, or a history; a console may have it open')
    .addOption(new Option('--what <table>', 'what is written').choices(csvQuery.shape.what.options).default('jobs'))
    .addOption(new Option('--tier <tier>', 'resolution; the finest that reaches back so far by default').choices(TIERS))
    .addOption(new Option('--by <group>', 'of jobs').choices(groupBy.options).default('job'))
    .action(csv)
  spanned(command.command('record'))
    .description('a stretch as a recording of its own')
    .argument('<file>', 'a history, also while a console has it open, or a recording')
    .argument('<to>', 'a new file, NAME.qosrec')
    .action(record)
  return command
}
