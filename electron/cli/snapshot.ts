/** `sluice snapshot`: bundles from the command line and from cron, verified and looked at. One line of output, no questions. */
import { existsSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { Command, InvalidArgumentError } from 'commander'
import { exportInput, memberGroup, type MemberGroup } from '#core/api/incidents.ts'
import { fail, ok, type Result } from '#core/base/result.ts'
import type { Manifest } from '#core/snapshot/manifest.ts'
import type { Incident } from '#core/snapshot/notebook.ts'
import { readClusters } from '../cluster/live/cluster-file.ts'
import type { ForeignFiles } from '../foreign/foreign-files.ts'
import { SUFFIX, usualName } from '../incidents/shelf/bundle-names.ts'
import type { RawReading } from '../incidents/bundle/bundle-source.ts'
import { fileSource } from '../incidents/bundle/file-source.ts'
import { NotebookStore } from '../incidents/notebook/notebook-store.ts'
import { sweep } from '../incidents/shelf/private-folder.ts'
import { pseudonymCode } from '../incidents/redaction/pseudonym-key.ts'
import { readManifest } from '../incidents/bundle/read-manifest.ts'
import { writeBundle } from '../incidents/bundle/write-bundle.ts'
import { openZip } from '../incidents/zip/zip-in.ts'
import { frozenReadings } from '../host/incidents/readings.ts'
import { version } from '../files/resources.ts'
import { dataDir } from '../server/data-dir.ts'
import { EXIT, jsonText, line, plain, sentence, stopJson, type ExitCode } from './output.ts'
import { withForeign } from './foreign.ts'
import { instantOf } from './snapshot-time.ts'

interface ExportFlags {
  readonly from?: number
  readonly to?: number
  readonly output: string
  readonly history?: string
  readonly cluster?: string
  readonly incident?: string
  readonly redact: boolean
  readonly all?: true
  readonly leaveOut?: readonly MemberGroup[]
  readonly json?: true
}

const instant = (text: string): number => {
  const ms = instantOf(text, Date.now())
  if (ms === undefined) throw new InvalidArgumentError('ISO 8601, Unix s or ms, now, -10m or "10m ago".')
  return ms
}

const groups = (text: string): MemberGroup[] =>
  text.split(',').map((name) => {
    const read = memberGroup.safeParse(name.trim())
    if (!read.success) throw new InvalidArgumentError(`Groups are ${memberGroup.options.join(', ')}.`)
    return read.data
  })

/** Longer than a command lasts, ms. */
const LEFT_OLD_MS = 3_600_000

const iso = (ms: number): string => new Date(ms).toISOString()

/** The notebook and what servers printed when it was opened. */
function notebookOf(
  folder: string,
  id: string | undefined,
): Result<{ incident: Incident | null; readings: readonly RawReading[] }> {
  if (id === undefined) return ok({ incident: null, readings: [] })
  const store = new NotebookStore(folder)
  const incident = store.find(id)
  if (!incident) {
    const why = `there is no ${id} in ${folder} that can be read`
    return fail({ code: 'INCIDENT_GONE', what: 'Nothing was exported', why, next: 'Name another incident.' })
  }
  const file = store.beside(id, 'readings')
  return ok({ incident, readings: file === undefined ? [] : frozenReadings(file, id) })
}

function envOf(folder: string): (cluster: string) => Manifest['source']['env'] | undefined {
  const file = join(folder, 'clusters.yaml')
  const known = existsSync(file) ? readClusters(file, true) : undefined
  return (cluster) => (known?.ok === true ? known.value.find((c) => c.name === cluster)?.env : undefined)
}

/** That of the notebook where nothing else is said. */
function rangeOf({ from, to }: ExportFlags, incident: Incident | null): Result<{ fromMs: number; toMs: number }> {
  const fromMs = from ?? incident?.fromMs ?? NaN
  const toMs = to ?? (from === undefined ? incident?.toMs : undefined) ?? Date.now()
  if (toMs > fromMs) return ok({ fromMs, toMs })
  const why = from === undefined && !incident ? 'nobody said when it begins' : 'its end is not after its beginning'
  return fail({ code: 'BAD_SPAN', what: 'There is no such stretch', why, next: 'Name it with --from and --to.' })
}

/** A notebook goes with samples of its own cluster only. */
function clusterOf(named: string | undefined, incident: Incident | null): Result<string | undefined> {
  const of = incident?.source.cluster
  if (named === undefined || of === undefined || named === of) return ok(named ?? of)
  const why = `${incident?.id} is of ${of}, not of ${named}`
  return fail({ code: 'OTHER_CLUSTER', what: 'Nothing was exported', why, next: 'Leave out --cluster or --incident.' })
}

/** A mistyped folder is not made: what cron writes would lie where nobody looks. */
function placeOf(output: string, incident: string | null, fromMs: number): Result<string> {
  const isFolder = statSync(output, { throwIfNoEntry: false })?.isDirectory() ?? output.endsWith('/')
  const name = usualName(incident, fromMs).replaceAll(' ', '-') + SUFFIX
  const file = resolve(isFolder ? join(output, name) : output)
  if (statSync(dirname(file), { throwIfNoEntry: false })?.isDirectory() === true) return ok(file)
  const why = `${dirname(file)} is no folder`
  return fail({ code: 'NO_FOLDER', what: 'Nothing was exported', why, next: 'Make it, or name another file.' })
}

const write = (flags: ExportFlags): Promise<void> => withForeign((files) => writeFrom(files, flags))

async function writeFrom(files: ForeignFiles, flags: ExportFlags): Promise<void> {
  sweep(tmpdir(), LEFT_OLD_MS)
  const { json } = flags
  const orStop = <T>(result: Result<T>, code: ExitCode = EXIT.failed): T =>
    result.ok ? result.value : stopJson(result.error, json, code)
  const history = resolve(flags.history ?? join(dataDir(), 'history.sqlite'))
  const folder = flags.history === undefined ? dataDir() : dirname(history)
  const { incident, readings } = orStop(notebookOf(folder, flags.incident))
  const range = orStop(rangeOf(flags, incident), EXIT.usage)
  const cluster = orStop(clusterOf(flags.cluster, incident))
  const file = orStop(placeOf(flags.output, incident?.id ?? null, range.fromMs))
  const source = orStop(
    await fileSource(history, {
      open: (file) => files.open(file),
      isOwn: flags.history === undefined,
      cluster,
      envOf: envOf(folder),
      readings,
    }),
  )
  try {
    const input = exportInput.parse({
      ...{ incident: incident?.id ?? null, span: range, redact: flags.redact },
      ...{ detail: flags.all ? 'all' : 'fit', leaveOut: [...(flags.leaveOut ?? [])] },
    })
    const code = orStop(pseudonymCode(folder))
    const written = orStop(
      await writeBundle(source, input, { incident, file, code, version: version(), nowMs: Date.now() }),
    )
    const { bytes, sha256, content, missing } = written
    const redaction = input.redact ? 'pseudonyms' : 'none'
    if (json) return line(jsonText({ file, bytes, sha256, content, ...range, redaction, missing }))
    const names = input.redact ? 'pseudonyms' : 'names as they are'
    line(`${plain(file)}: ${bytes} bytes, ${iso(range.fromMs)} to ${iso(range.toMs)}, ${names}, sha256 ${sha256}`)
  } finally {
    source.close()
  }
}

async function verify(file: string, { json }: { readonly json?: true }): Promise<void> {
  sweep(tmpdir(), LEFT_OLD_MS)
  const verdict = await withForeign((files) => files.verify(file))
  if (!verdict.ok) return stopJson(verdict.error, json, EXIT.failed)
  const { ok: isOk, changed, manifest, sha256 } = verdict.value
  if (!isOk) process.exitCode = EXIT.failed
  if (json) return line(jsonText({ ok: isOk, file, sha256, content: manifest?.content ?? null, changed }))
  for (const c of changed) line(sentence(`${c.member}: ${c.why}`))
  line(isOk ? `${plain(file)} is as it was written: sha256 ${sha256}` : `${plain(file)} is not as it was written.`)
}

async function info(file: string, { json }: { readonly json?: true }): Promise<void> {
  const opened = await openZip(file)
  const zip = opened.ok ? opened.value : stopJson(opened.error, json, EXIT.failed)
  const read = await readManifest(zip)
  const sizes = new Map([...zip.entries.values()].map((e) => [e.name, e]))
  const bytes = zip.size
  zip.close()
  if (!read.ok) return stopJson(read.error, json, EXIT.failed)
  const m = read.value
  if (json) {
    const members = m.members.map((of) => ({ ...of, packed: sizes.get(of.name)?.packed ?? null }))
    return line(jsonText({ file, bytes, manifest: { ...m, members } }))
  }
  const { source, range, samples } = m
  line(`${plain(file)}: ${bytes} bytes, by Sluice ${plain(m.version)}, ${iso(m.createdMs)}`)
  if (m.incident) line(sentence(`${m.incident.id} ${m.incident.title} (${m.incident.status})`))
  line(plain(`${source.kind} ${source.cluster} (${source.env}), ${iso(range.fromMs)} to ${iso(range.toMs)}`))
  line(
    plain(
      `${samples.servers} servers, ${samples.targets} targets, ${samples.jobs} jobs, ${samples.instants} instants, ${samples.tier}`,
    ),
  )
  line(m.redaction === 'none' ? 'Names are as they are.' : 'Names are pseudonyms.')
  line(`content ${m.content}`)
  for (const text of m.missing) line(sentence(`missing: ${text}`))
  for (const of of m.members) line(plain(`${String(sizes.get(of.name)?.packed ?? 0).padStart(10)}  ${of.name}`))
}

export function snapshotCommand(): Command {
  const command = new Command('snapshot')
    .description('one file of what happened, for whoever has no Sluice')
    .exitOverride()
  command
    .command('export')
    .description('a stretch of a history as a bundle; a console may be running')
    .option(
      '--from <time>',
      'beginning: ISO 8601, Unix s or ms, now, -10m or "10m ago"; of --incident by default',
      instant,
    )
    .option('--to <time>', 'end, not included; that of --incident, or now, by default', instant)
    .requiredOption('-o, --output <file>', 'a new file, or a folder: then a name is made')
    .option('--history <file>', "a history or a recording; this user's console's by default")
    .option('--cluster <name>', 'that of --incident, or the newest, by default')
    .option('--incident <id>', 'notebook that goes with it, INC-0001')
    .option('--no-redact', 'names as they are; pseudonyms by default')
    .option('--all', 'every sample of every job, whatever the size')
    .option('--leave-out <groups>', `of ${memberGroup.options.join(', ')}`, groups)
    .option('--json', 'one JSON document')
    .action(write)
  const file = 'a bundle'
  const json = ['--json', 'one JSON document'] as const
  command
    .command('verify')
    .description(
      'whether every byte is as it was written; exit 1 where one is not. Keep the sha256 elsewhere to notice a forgery',
    )
    .argument('<file>', file)
    .option(...json)
    .action(verify)
  command
    .command('info')
    .description('what a bundle holds')
    .argument('<file>', file)
    .option(...json)
    .action(info)
  return command
}
