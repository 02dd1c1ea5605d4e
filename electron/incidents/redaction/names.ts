/**
 * Collects every name that can occur in a bundle: from the history (each table by its columns), kept convoys,
 * the audit, the readings and the notebook, and the operator's own. Fields are replaced in any case; free text is
 * searched for the collected names.
 */
import { hostname, userInfo } from 'node:os'
import type { Span } from '#core/api/history.ts'
import type { Failure } from '#core/base/result.ts'
import { ended } from '#core/base/steps.ts'
import { NameCollector, NAMES_MOST, type Names, type PlainKind } from '#core/snapshot/names.ts'
import { isAddress } from '#core/snapshot/redact-address.ts'
import { itemsOf } from '#core/snapshot/redact-conditions.ts'
import { replaceStrings } from '#core/snapshot/redact-json.ts'
import { filesystemOf } from '#core/snapshot/redact-target.ts'
import type { Incident } from '#core/snapshot/notebook.ts'
import { OTHERS, planeTableOf } from '#core/series/plane-tables.ts'
import { unpackConvoy } from '../../history/convoy-table.ts'
import { placeParts } from '../../history/copied-columns.ts'
import type { BundleSource } from '../bundle/bundle-source.ts'
import { loginName } from './redact-audit.ts'
import { readingNames } from './redact-readings.ts'

/** Jobs that ended before the span are included, since notes may mention them; the newest ones. */
const EARLIER_JOBS = 20_000
/** Most convoys examined for a preview. */
const CONVOYS_QUICK = 6
const CONVOYS_MOST = 10_000
/** Most series of planes, the newest ones. */
const SERIES_MOST = 100_000
/** Jobs per step. */
const STEP = 1_000

export interface CollectOptions {
  /** True for a preview: only some frames of views are examined, and no decisions. */
  readonly isQuick?: boolean | undefined
}

/** Reason why these names cannot be replaced by pseudonyms; undefined if they can. */
export function namesFailure(names: Names): Failure | undefined {
  if (names.isComplete !== false) return undefined
  return {
    code: 'NAMES_TOO_MANY',
    what: 'The bundle was not written',
    why: `there are more than ${NAMES_MOST} names in the range, and some of them would not have been replaced`,
    next: 'Choose a shorter range.',
  }
}

/** Common parts of host and cluster names. */
const USUAL_LABELS: ReadonlySet<string> = new Set([
  'local',
  'localdomain',
  'localhost',
  'internal',
  'intranet',
  'private',
  'cluster',
  'compute',
  'storage',
  'lustre',
  'example',
  'prod',
  'stage',
  'test',
  'login',
  'node',
  'nodes',
  'home',
  'corp',
  'site',
  'demo',
  'small',
  'large',
])
/** `user@host` and `/home/user` in free text; parts are bounded. */
const AT = /(?<![\w.+-])([A-Za-z_][\w.+-]{0,63})@([A-Za-z0-9][A-Za-z0-9.-]{0,253})/g
const HOME = /\/(?:home|users|u)\/([A-Za-z_][\w.-]{0,63})/gi
const LINK = /\b[a-z][a-z0-9+]{1,9}:\/\/(?:[^\s/@]{1,64}@)?([A-Za-z0-9][A-Za-z0-9.-]{0,253})/g
/** Most characters examined of one text. */
const TEXT_MOST = 2 ** 20

const COUNTED = /^\d+ [a-z]+s?$/
const RESOURCE = /^(.*?) \/ \d+$/s
const PLAN = /^[0-9a-f]{8,64}$/

class Collector {
  readonly collected = new NameCollector()

  host(text: string | null | undefined): void {
    if (typeof text !== 'string' || COUNTED.test(text)) return
    if (isAddress(text)) return this.collected.add('address', text)
    // `mds01/mdt_readpage`: a service of a server.
    const slash = text.indexOf('/')
    if (slash > 0) return this.host(text.slice(0, slash))
    const at = text.indexOf('@')
    this.collected.add('host', text)
    if (at > 0) {
      this.collected.add('user', text.slice(0, at))
      this.host(text.slice(at + 1))
    }
    // Short name and domains of a long host name, and their labels.
    if (text.includes('.') && /^[A-Za-z0-9.-]+$/.test(text)) {
      const labels = text.split('.')
      this.collected.add('host', labels[0])
      for (let i = 1; i < labels.length - 1; i++) {
        this.collected.add('host', labels.slice(i).join('.'))
        this.label('host', labels[i] as string)
      }
    }
  }

  /** Part of a name that identifies the whole. */
  label(kind: PlainKind, text: string): void {
    if (text.length >= 4 && !/^\d+$/.test(text) && !USUAL_LABELS.has(text.toLowerCase())) this.collected.add(kind, text)
  }

  /** `altair-prod` also yields altair. */
  cluster(text: string): void {
    this.collected.add('cluster', text)
    const parts = text.split(/[-_. ]+/)
    if (parts.length > 1) for (const part of parts) this.label('cluster', part)
  }

  /** Adds the names in free text that are recognized by their form: `user@host`, home folders, links. */
  addFromText(text: string): void {
    const some = text.slice(0, TEXT_MOST)
    if (some.includes('@')) {
      for (const [, user = '', host = ''] of some.matchAll(AT)) {
        if (isAddress(`${user}@${host}`)) continue
        this.collected.add('user', user)
        this.host(host.replace(/[.-]+$/, ''))
      }
    }
    if (!some.includes('/')) return
    for (const [, user] of some.matchAll(HOME)) this.collected.add('user', user)
    for (const [, host = ''] of some.matchAll(LINK)) this.host(host.replace(/[.-]+$/, ''))
  }

  target(text: string): void {
    const fs = filesystemOf(text)
    if (fs !== undefined) this.collected.add('filesystem', fs)
    else if (text !== '' && text !== 'MGS') this.collected.add('target', text)
  }

  file(text: string): void {
    const path = RESOURCE.exec(text)?.[1] ?? text
    if (!/^\d*$/.test(path)) this.collected.add('file', path)
  }

  /** `user@host`. */
  who(text: string): void {
    const at = text.indexOf('@')
    this.collected.add('user', at > 0 ? text.slice(0, at) : text)
    if (at > 0) this.host(text.slice(at + 1))
  }

  /** Place of an event: a target, a node, a job, a resource, or a count. */
  place(text: string): void {
    if (text === '' || COUNTED.test(text)) return
    if (filesystemOf(text) !== undefined) this.target(text)
    else if (RESOURCE.test(text)) this.file(text)
    else if (!this.collected.of('job').has(text) && !/\s/.test(text)) this.host(text)
  }

  conditions(text: string): void {
    for (const { field, item } of itemsOf(text)) {
      if (field === 'opcode' || item === '*') continue
      if (field === 'nid' || isAddress(item)) this.collected.add('address', item)
      else if (field === 'uid' || field === 'gid' || field === 'projid') continue
      else if (field === 'nodemap') this.collected.add('nodemap', item)
      else if (!item.includes('*')) this.collected.add('job', item)
      else
        for (const part of item.split(/[*.:@]+/))
          if (part.length > 1 && !/^\d+$/.test(part)) this.collected.add('exe', part)
    }
  }

  add(kind: PlainKind | 'conditions', text: string): void {
    if (kind === 'host') this.host(text)
    else if (kind === 'target') this.target(text)
    else if (kind === 'file') this.file(text)
    else if (kind === 'user') this.who(text)
    else if (kind === 'conditions') this.conditions(text)
    else if (kind === 'cluster') this.cluster(text)
    else if (kind !== 'text') this.collected.add(kind, text)
  }
}

/** Names in the tables of the history. */
function* fromHistory(
  c: Collector,
  { db, cluster }: BundleSource,
  { fromMs, toMs }: Span,
): Generator<undefined, void, void> {
  const from = Math.floor(fromMs)
  const to = Math.ceil(toMs)
  const each = (sql: string, ...values: (string | number)[]): IterableIterator<unknown[]> =>
    db.prepare(sql).raw().iterate(values) as IterableIterator<unknown[]>
  const text = (v: unknown): string => (typeof v === 'string' ? v : '')
  const columns = 'SELECT job_id, user, account, exe FROM job WHERE cluster = ?'
  // No read is in progress while other tasks run.
  const jobs = function* (rows: Iterable<unknown[]>): Generator<undefined, void, void> {
    let n = 0
    for (const [job, user, account, exe] of [...rows]) {
      if (n++ % STEP === 0) yield
      c.collected.add('job', text(job))
      c.collected.add('user', text(user))
      c.collected.add('account', text(account))
      c.collected.add('exe', text(exe))
    }
  }
  yield* jobs(each(`${columns} AND first_ms < ? AND last_ms >= ?`, cluster, to, from))
  yield* jobs(each(`${columns} AND last_ms < ? ORDER BY last_ms DESC, id DESC LIMIT ${EARLIER_JOBS}`, cluster, from))
  for (const [name] of each('SELECT name FROM cluster WHERE id = ?', cluster)) c.cluster(text(name))
  for (const [name] of each('SELECT DISTINCT cluster FROM source WHERE cluster_id = ?', cluster)) {
    c.cluster(text(name))
  }
  for (const [name, node] of each('SELECT name, node FROM target WHERE cluster = ?', cluster)) {
    c.target(text(name))
    c.host(text(node))
  }
  const ofCluster = 'source IN (SELECT id FROM source WHERE cluster_id = ?)'
  for (const [node, name] of each(`SELECT DISTINCT node, name FROM ldlm_namespace WHERE ${ofCluster}`, cluster)) {
    c.host(text(node))
    c.target(text(name))
  }
  for (const [node] of each('SELECT DISTINCT node FROM service_timeout WHERE cluster = ?', cluster)) c.host(text(node))
  const inForce = `${ofCluster} AND from_ms < ? AND (to_ms IS NULL OR to_ms >= ?)`
  for (const [server, name, conditions] of each(
    `SELECT DISTINCT server, name, conditions FROM rule WHERE ${inForce}`,
    ...[cluster, to, from],
  )) {
    c.host(text(server))
    c.collected.add('rule', text(name))
    c.conditions(text(conditions))
  }
  for (const [place] of each(
    `SELECT DISTINCT place FROM event WHERE ${ofCluster} AND at_ms >= ? AND at_ms < ?`,
    cluster,
    from,
    to,
  )) {
    c.place(text(place))
  }
}

/**
 * A decision may mention a job without samples; those of the first tenth of each second are examined, since they are
 * similar.
 */
function fromDecisions(c: Collector, { db, cluster }: BundleSource, { fromMs, toMs }: Span): void {
  const sql = `SELECT allocations FROM decision WHERE source IN (SELECT id FROM source WHERE cluster_id = ?)
    AND at_ms >= ? AND at_ms < ? AND at_ms % 1000 < 100`
  const known = new Set<string>()
  for (const text of db
    .prepare(sql)
    .pluck()
    .iterate(cluster, Math.floor(fromMs), Math.ceil(toMs)) as Iterable<string>) {
    for (const [, printed = ''] of text.matchAll(/\[("(?:[^"\\]|\\.)*"),/g)) {
      if (known.has(printed)) continue
      known.add(printed)
      try {
        c.collected.add('job', JSON.parse(printed) as string)
      } catch {
        // Invalid JSON is not exported.
      }
    }
  }
}

/** Names of planes' series, and those in the messages of kept convoys. */
function fromPlanes(c: Collector, { db, cluster }: BundleSource, { fromMs, toMs }: Span, most: number): void {
  const series = db.prepare(
    'SELECT kind, name, place, job_id FROM plane_series WHERE cluster = ? ORDER BY id DESC LIMIT ?',
  )
  for (const row of series.iterate(cluster, SERIES_MOST)) {
    const { kind, name, place, job_id: jobId } = row as { kind: number; name: string; place: string; job_id: string }
    const names = planeTableOf(kind)?.names
    if (names && names.name !== 'kept' && name !== OTHERS.name) c.add(names.name, name)
    if (names && names.place !== 'kept') for (const part of placeParts(place)) c.add(names.place, part)
    if (jobId !== '') c.add('job', jobId)
  }
  const where =
    'FROM convoy WHERE cluster = ? AND from_ms >= ? AND from_ms < ? ORDER BY to_ms - from_ms DESC, id LIMIT ?'
  const convoys = db.prepare(`SELECT resource, server, data ${where}`).all(cluster, fromMs, toMs, most)
  for (const row of convoys as { resource: string; server: string; data: Buffer }[]) {
    c.add('file', row.resource)
    c.add('host', row.server)
    replaceStrings({ resource: unpackConvoy(row.data) }, (kind, text) => {
      if (kind !== 'kept' && kind !== 'free') c.add(kind, text)
      return text
    })
  }
}

function fromIncident(c: Collector, incident: Incident): void {
  c.cluster(incident.source.cluster)
  if (incident.author !== 'alert') c.who(incident.author)
  if (incident.alert) c.place(incident.alert.where)
  c.addFromText(incident.title)
  for (const cell of incident.cells) {
    if (cell.kind === 'note') c.addFromText(cell.text)
    else if (cell.kind === 'transcript') for (const line of cell.lines) c.addFromText(line.text)
    if (cell.kind !== 'note') c.cluster(cell.of.cluster)
    if (cell.kind === 'chart') {
      for (const name of cell.place.names) c.add(cell.place.kind, name)
      for (const s of cell.series) c.add(s.label.kind, s.label.text)
    } else if (cell.kind === 'table') for (const row of cell.rows) c.add(row.name.kind, row.name.text)
    else if (cell.kind === 'diff') {
      for (const line of cell.lines) {
        c.collected.add('rule', line.name)
        c.conditions(line.conditions)
      }
    } else if (cell.kind === 'transcript') for (const line of cell.lines) c.place(line.where)
  }
}

/** User and host of this console. */
function fromConsole(c: Collector): void {
  try {
    c.collected.add('user', userInfo().username)
  } catch {
    // A user without an entry has no name.
  }
  const name = hostname()
  if (name !== 'localhost') c.host(name)
}

/**
 * All names of a bundle of [span.fromMs, span.toMs).
 *
 * @returns  incomplete above NAMES_MOST, which `makeRedactor` refuses: see `namesFailure`.
 */
export function collectNames(
  source: BundleSource,
  span: Span,
  incident: Incident | null,
  o: CollectOptions = {},
): Names {
  return ended(namesInSteps(source, span, incident, o))
}

/** Same in steps of a few milliseconds. */
export function* namesInSteps(
  source: BundleSource,
  span: Span,
  incident: Incident | null,
  o: CollectOptions = {},
): Generator<undefined, Names, void> {
  const c = new Collector()
  c.cluster(source.source.cluster)
  for (const { server } of source.source.releases) c.host(server)
  yield* fromHistory(c, source, span)
  yield
  fromPlanes(c, source, span, o.isQuick === true ? CONVOYS_QUICK : CONVOYS_MOST)
  if (o.isQuick !== true) fromDecisions(c, source, span)
  yield
  for (const { server, text, by } of source.audit(span.fromMs, span.toMs)?.records ?? []) {
    c.addFromText(text)
    c.place(server === by?.cluster || server === source.source.cluster ? '' : server)
    if (!by) continue
    c.cluster(by.cluster)
    c.who(by.who)
    c.who(loginName(by.login))
    // A hash of its commands, which would allow names in them to be guessed.
    if (PLAN.test(by.plan)) c.collected.add('plan', by.plan)
  }
  for (const { server, text } of source.readings(span.fromMs, span.toMs)) {
    c.host(server)
    readingNames(text, (kind, name) => c.add(kind, name))
  }
  if (incident) fromIncident(c, incident)
  if (source.notebook && source.notebook !== incident) fromIncident(c, source.notebook)
  fromConsole(c)
  return c.collected
}
