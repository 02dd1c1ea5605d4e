/** `sluice snapshot`: exports, verifies and inspects bundles from the shell or cron. One line of output, no prompts. */
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
import { planesText } from '#core/snapshot/report.ts'
import { readManifest } from '../incidents/bundle/read-manifest.ts'
import { writeBundle } from '../incidents/bundle/write-bundle.ts'
import { openZip } from '../incidents/zip/zip-in.ts'
import { frozenReadings } from '../host/incidents/readings.ts'
import { version } from '../files/resources.ts'
import { dataDir } from '../server/data-dir.ts'
import { EXIT, jsonText, line, plain, sentence, stopJson, type ExitCode } from './output.ts'
import { withForeign } from './foreign.ts'

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }
/** Numbers with at least so many digits are Unix ms, shorter ones Unix s. */
const MS_DIGITS = 12
const RELATIVE = /^(?:-(\d{1,7})([smhd])|(\d{1,7}) ?([smhd]) ago)$/

/**
 * Parses `now`, `-10m`, `10m ago`, Unix s or ms, or ISO 8601 into Unix ms; undefined if not valid. As for ISO 8601 in JavaScript,
 * a date-time without a zone is local and a date alone is midnight UTC.
 */
export function instantOf(text: string, nowMs: number): number | undefined {
  if (text === 'now') return nowMs
  const [, a, ua, b, ub] = RELATIVE.exec(text) ?? []
  const unit = UNITS[ua ?? ub ?? '']
  if (unit !== undefined) return nowMs - Number(a ?? b) * unit
  if (/^\d{1,16}$/.test(text)) return text.length < MS_DIGITS ? Number(text) * 1_000 : Number(text)
  const ms = /^\d{4}-\d{2}/.test(text) ? Date.parse(text) : NaN
  return Number.isNaN(ms) || Math.abs(ms) > 8.64e15 ? undefined : ms
}

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

/** Age of a leftover temporary file, ms; longer than any command runs. */
const LEFTOVER_AGE_MS = 3_600_000

const iso = (ms: number): string => new Date(ms).toISOString()

/** The notebook, and what servers printed when it was opened. */
function notebookOf(
  folder: string,
  id: string | undefined,
): Result<{ incident: Incident | null; readings: readonly RawReading[] }> {
  if (id === undefined) return ok({ incident: null, readings: [] })
  const store = new NotebookStore(folder)
  const incident = store.find(id)
  if (!incident) {
    const why = `${folder} has no readable ${id}`
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

/** Range from the flags, by default that of the notebook. */
function rangeOf({ from, to }: ExportFlags, incident: Incident | null): Result<{ fromMs: number; toMs: number }> {
  const fromMs = from ?? incident?.fromMs ?? NaN
  const toMs = to ?? (from === undefined ? incident?.toMs : undefined) ?? Date.now()
  if (toMs > fromMs) return ok({ fromMs, toMs })
  const why = from === undefined && !incident ? 'its start is not given' : 'its end is not after its beginning'
  return fail({ code: 'BAD_SPAN', what: 'The range is not valid', why, next: 'Give it with --from and --to.' })
}

/** Cluster from the flags, by default that of the notebook; a notebook is exported with samples of its own cluster only. */
function clusterOf(named: string | undefined, incident: Incident | null): Result<string | undefined> {
  const of = incident?.source.cluster
  if (named === undefined || of === undefined || named === of) return ok(named ?? of)
  const why = `${incident?.id} belongs to ${of}, not to ${named}`
  return fail({ code: 'OTHER_CLUSTER', what: 'Nothing was exported', why, next: 'Leave out --cluster or --incident.' })
}

/** Output path. A missing folder is not created: with a typo, the files of a cron job would go unnoticed. */
function placeOf(output: string, incident: string | null, fromMs: number): Result<string> {
  const isFolder = statSync(output, { throwIfNoEntry: false })?.isDirectory() ?? output.endsWith('/')
  const name = usualName(incident, fromMs).replaceAll(' ', '-') + SUFFIX
  const file = resolve(isFolder ? join(output, name) : output)
  if (statSync(dirname(file), { throwIfNoEntry: false })?.isDirectory() === true) return ok(file)
  const why = `${dirname(file)} is not a folder`
  return fail({ code: 'NO_FOLDER', what: 'Nothing was exported', why, next: 'Create it, or name another file.' })
}

const write = (flags: ExportFlags): Promise<void> => withForeign((files) => writeFrom(files, flags))

async function writeFrom(files: ForeignFiles, flags: ExportFlags): Promise<void> {
  sweep(tmpdir(), LEFTOVER_AGE_MS)
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
      incident: incident?.id ?? null,
      span: range,
      redact: flags.redact,
      detail: flags.all ? 'all' : 'fit',
      leaveOut: [...(flags.leaveOut ?? [])],
    })
    const code = orStop(pseudonymCode(folder))
    const written = orStop(
      await writeBundle(source, input, { incident, file, code, version: version(), nowMs: Date.now() }),
    )
    const { bytes, sha256, content, missing } = written
    const redaction = input.redact ? 'pseudonyms' : 'none'
    if (json) return line(jsonText({ file, bytes, sha256, content, ...range, redaction, missing }))
    const names = input.redact ? 'pseudonyms' : 'names not redacted'
    line(`${plain(file)}: ${bytes} bytes, ${iso(range.fromMs)} to ${iso(range.toMs)}, ${names}, sha256 ${sha256}`)
  } finally {
    source.close()
  }
}

async function verify(file: string, { json }: { readonly json?: true }): Promise<void> {
  sweep(tmpdir(), LEFTOVER_AGE_MS)
  const verdict = await withForeign((files) => files.verify(file))
  if (!verdict.ok) return stopJson(verdict.error, json, EXIT.failed)
  const { ok: isOk, changed, manifest, sha256 } = verdict.value
  if (!isOk) process.exitCode = EXIT.failed
  if (json) return line(jsonText({ ok: isOk, file, sha256, content: manifest?.content ?? null, changed }))
  for (const c of changed) line(sentence(`${c.member}: ${c.why}`))
  line(isOk ? `${plain(file)} is intact: sha256 ${sha256}` : `${plain(file)} was altered.`)
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
      `${samples.servers} servers, ${samples.targets} targets, ${samples.jobs} jobs, ${samples.instants} samples, ${samples.tier}`,
    ),
  )
  const planes = planesText(m)
  if (planes !== '') line(plain(planes))
  line(m.redaction === 'none' ? 'Names are not redacted.' : 'Names are pseudonyms.')
  line(`content ${m.content}`)
  for (const text of m.missing) line(sentence(`missing: ${text}`))
  for (const of of m.members) line(plain(`${String(sizes.get(of.name)?.packed ?? 0).padStart(10)}  ${of.name}`))
}

export function snapshotCommand(): Command {
  const command = new Command('snapshot').description('export, verify and inspect incident bundles').exitOverride()
  command
    .command('export')
    .description('export a range of a history as a bundle; a console may be running')
    .option(
      '--from <time>',
      'start: ISO 8601, Unix s or ms, now, -10m or "10m ago" (default: that of --incident)',
      instant,
    )
    .option('--to <time>', 'end, exclusive (default: that of --incident, or now)', instant)
    .requiredOption('-o, --output <file>', 'new file, or a folder for a file with a generated name')
    .option('--history <file>', "history or recording (default: that of this user's console)")
    .option('--cluster <name>', 'cluster (default: that of --incident, or the newest)')
    .option('--incident <id>', 'notebook to include, INC-0001')
    .option('--no-redact', 'do not replace names with pseudonyms')
    .option('--all', 'include every sample of every job, whatever the size')
    .option('--leave-out <groups>', `groups to leave out: ${memberGroup.options.join(', ')}`, groups)
    .option('--json', 'one JSON document')
    .action(write)
  const file = 'a bundle'
  const json = ['--json', 'one JSON document'] as const
  command
    .command('verify')
    .description(
      'check every byte against the checksums; exit 1 if one differs. Keep the sha256 elsewhere to detect a forgery',
    )
    .argument('<file>', file)
    .option(...json)
    .action(verify)
  command
    .command('info')
    .description('show the contents of a bundle')
    .argument('<file>', file)
    .option(...json)
    .action(info)
  return command
}
