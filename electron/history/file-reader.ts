/** Reader of one cluster's history in one file: the open store, through its own connection, or a recording. */
import { ended } from '#core/base/steps.ts'
import type { Database, Statement } from 'better-sqlite3'
import type { TierId, ClusterMeasure, Span } from '#core/api/history.ts'
import { BlockReader, sumOf, segmentsOf, tierOfSegments } from './block-reader.ts'
import { KINDS } from './block.ts'
import { IoTable, type BrwSample, type TimeoutSample } from './io-table.ts'
import { ConvoyTable } from './convoy-table.ts'
import { LdlmTable, type LdlmSample } from './ldlm-table.ts'
import { PlaneReader } from './plane-reader.ts'
import { Marks } from './marks.ts'
import { CLUSTER_COLUMNS, type HistoryReader, type HistoryJob, type HistoryTarget } from './reader.ts'
import { tierNumber, stepOf } from './tiers.ts'
import { moversOf, topOf } from './top.ts'
import { cadenceOf, isHole, missingFrom, partsOf } from './parts.ts'

/** One metric of a cluster over a span, as points of a chart. */
function lineOf(
  blocks: BlockReader,
  measure: ClusterMeasure,
  span: Span,
  points: number,
): ReturnType<HistoryReader['line']> {
  const column = CLUSTER_COLUMNS.indexOf(measure)
  const segments = segmentsOf(blocks, span.fromMs, span.toMs, points)
  const instants: number[] = []
  const values: number[] = []
  for (const s of segments) {
    blocks.eachSums(s.tier, s.fromMs, s.toMs, (atMs, data) => {
      instants.push(atMs)
      values.push(sumOf(data, column))
    })
  }
  const least = stepOf(segments[0]?.tier ?? 0)
  const { t, of } = partsOf(Float64Array.from(instants), span.fromMs, span.toMs, points, least)
  const sums = new Float64Array(t.length)
  const counts = new Uint32Array(t.length)
  values.forEach((v, i) => {
    if (Number.isNaN(v)) return
    const part = of[i] as number
    sums[part] = (sums[part] as number) + v
    counts[part] = (counts[part] as number) + 1
  })
  return {
    t,
    values: t.map((_, part) => (counts[part] === 0 ? null : (sums[part] as number) / (counts[part] as number))),
    tier: tierOfSegments(segments),
  }
}

/** Most instants that are examined for gaps; shorter gaps are not visible in a chart of the span. */
const INSTANTS_MAX = 10_000
const GAPS_MAX = 1000
/** A connection is reported as lost a little before or after the last sample. */
const NEAR_MS = 10_000

type Gap = ReturnType<HistoryReader['gaps']>[number]

/** Ranges of a cluster's history without samples, with the reason as far as it is recorded. */
function gapsOf(db: Database, cluster: number, blocks: BlockReader, fromMs: number, toMs: number): Gap[] {
  const tier = tierNumber(blocks.tierFor(fromMs, toMs, INSTANTS_MAX))
  const inside = blocks.instants(tier, fromMs, toMs)
  const before = blocks.beside(tier, fromMs, 'before')
  const after = blocks.beside(tier, toMs, 'after')
  // Instants outside the range count only as ends of a gap.
  const instants = [...(before === undefined ? [] : [before]), ...inside, ...(after === undefined ? [] : [after])]
  const all = Float64Array.from(instants)
  const cadence = cadenceOf(inside.length > 1 ? inside : Float64Array.from(instants.slice(0, 1)), stepOf(tier))
  const missing = missingFrom(cadence)
  const begun = db.prepare('SELECT 1 FROM source WHERE cluster_id = ? AND started_ms BETWEEN ? AND ? LIMIT 1')
  const lost = db
    .prepare(
      `SELECT text FROM event WHERE kind = 'lost' AND at_ms BETWEEN ? AND ?
       AND source IN (SELECT id FROM source WHERE cluster_id = ?) ORDER BY at_ms LIMIT 1`,
    )
    .pluck()
  const out: Gap[] = []
  for (let i = 1; i < instants.length && out.length < GAPS_MAX; i++) {
    const a = instants[i - 1] as number
    const b = instants[i] as number
    if (!isHole(all, i, missing)) continue
    const from = Math.max(fromMs, a + cadence)
    const to = Math.min(toMs, b)
    if (to <= from) continue
    const wasStarted = begun.get(cluster, Math.round(a), Math.round(b + NEAR_MS)) !== undefined
    const text = lost.get(Math.round(a - NEAR_MS), Math.round(b), cluster) as string | undefined
    out.push({ fromMs: from, toMs: to, why: wasStarted ? 'Sluice was not running' : (text ?? '').slice(0, 500) })
  }
  return out
}

/** Most jobs held in memory. An owner may become known later, so jobs without one are read again. */
const JOBS_MAX = 50_000
const NAME_MAX = 256
/** Most jobs that a search examines: a few milliseconds. */
const SEARCHED_MAX = 50_000
const TARGETS_MAX = 20_000
const TARGET = `id AS key, substr(name, 1, ${NAME_MAX}) AS target, substr(node, 1, ${NAME_MAX}) AS node FROM target`

interface JobRow {
  id: number
  job_id: string
  user: string
  account: string
  exe: string
  nodes: number | null
  first_ms: number
}

export class FileReader implements HistoryReader {
  readonly cluster: string
  /** Id of the cluster in the file. */
  readonly id: number
  readonly #db: Database
  readonly #close: () => void
  readonly #blocks: BlockReader
  readonly #marks: Marks
  readonly #io: IoTable
  readonly #jobs = new Map<number, HistoryJob>()
  readonly #job: Statement<(number | string)[]>
  readonly #jobByName: Statement<(number | string)[]>
  readonly #planes: PlaneReader
  readonly #convoys: ConvoyTable
  readonly #ldlm: LdlmTable

  /**
   * @param of  name of the cluster; isOwner: set if closing the reader closes the file, which is then not the open store; close:
   * closes it.
   */
  constructor(
    db: Database,
    id: number,
    of: { readonly name: string; readonly isOwner: boolean; readonly close?: () => void },
  ) {
    this.#db = db
    this.id = id
    this.cluster = of.name
    this.#close = of.close ?? (() => void (of.isOwner && db.close()))
    this.#blocks = new BlockReader(db, id, of.isOwner)
    this.#marks = new Marks(db, id)
    this.#io = new IoTable(db)
    const job = 'SELECT id, job_id, user, account, exe, nodes, first_ms FROM job WHERE cluster = ?'
    this.#job = db.prepare(`${job} AND id = ?`)
    this.#jobByName = db.prepare(`${job} AND job_id = ?`)
    this.#planes = new PlaneReader(db, id, this.#blocks)
    this.#convoys = new ConvoyTable(db)
    this.#ldlm = new LdlmTable(db)
  }

  extent(): ReturnType<HistoryReader['extent']> {
    return this.#blocks.fullExtent()
  }

  extentOf(tier: TierId): ReturnType<HistoryReader['extentOf']> {
    return this.#blocks.extent(tierNumber(tier))
  }

  brwAt(target: string, fromMs: number, toMs: number): BrwSample | undefined {
    return this.#io.brwAt(this.id, target, fromMs, toMs)
  }

  brwBetween(fromMs: number, toMs: number): Iterable<BrwSample> {
    return this.#io.brwBetween(this.id, fromMs, toMs)
  }

  timeoutsAt(node: string, fromMs: number, toMs: number): TimeoutSample[] {
    return this.#io.timeoutsAt(this.id, node, fromMs, toMs)
  }

  timeoutsBetween(fromMs: number, toMs: number): Iterable<TimeoutSample> {
    return this.#io.timeoutsBetween(this.id, fromMs, toMs)
  }

  ldlmBetween(fromMs: number, toMs: number, stepMs?: number): LdlmSample[] {
    return this.#ldlm.between(this.id, fromMs, toMs, stepMs)
  }

  tierFor(fromMs: number, toMs: number, points: number): TierId {
    return this.#blocks.tierFor(fromMs, toMs, points)
  }

  instants(tier: TierId, fromMs: number, toMs: number): Float64Array {
    return this.#blocks.instants(tierNumber(tier), fromMs, toMs)
  }

  jobs(tier: TierId, atMs: number): ReturnType<HistoryReader['jobs']> {
    return this.#blocks.one(KINDS.jobs, tierNumber(tier), atMs)
  }

  targets(tier: TierId, atMs: number): ReturnType<HistoryReader['targets']> {
    return this.#blocks.one(KINDS.targets, tierNumber(tier), atMs)
  }

  jobsBetween(tier: TierId, fromMs: number, toMs: number): ReturnType<HistoryReader['jobsBetween']> {
    return this.#blocks.between(KINDS.jobs, tierNumber(tier), fromMs, toMs)
  }

  targetsBetween(tier: TierId, fromMs: number, toMs: number): ReturnType<HistoryReader['targetsBetween']> {
    return this.#blocks.between(KINDS.targets, tierNumber(tier), fromMs, toMs)
  }

  clusterBetween(tier: TierId, fromMs: number, toMs: number): ReturnType<HistoryReader['clusterBetween']> {
    const number = tierNumber(tier)
    const n = this.#blocks.count(number, fromMs, toMs, Number.MAX_SAFE_INTEGER)
    const t = new Float64Array(n)
    const columns = CLUSTER_COLUMNS.map(() => new Float32Array(n))
    let i = 0
    this.#blocks.eachSums(number, fromMs, toMs, (atMs, data) => {
      t[i] = atMs
      for (let c = 0; c < columns.length; c++) (columns[c] as Float32Array)[i] = sumOf(data, c)
      i++
    })
    // Damaged blocks are skipped.
    return i === n ? { t, columns } : { t: t.subarray(0, i), columns: columns.map((c) => c.subarray(0, i)) }
  }

  job(key: number): HistoryJob | undefined {
    const known = this.#jobs.get(key)
    if (known) return known
    const job = historyJob(this.#job.get(this.id, key) as JobRow | undefined)
    if (job && (job.user !== '' || job.nodes !== null)) {
      if (this.#jobs.size >= JOBS_MAX) this.#jobs.clear()
      this.#jobs.set(key, job)
    }
    return job
  }

  jobByName(jobId: string): HistoryJob | undefined {
    return historyJob(this.#jobByName.get(this.id, jobId) as JobRow | undefined)
  }

  findJobs(terms: readonly string[], limit: number): readonly HistoryJob[] {
    const tests = terms.map(() => "AND job_id || ' ' || user || ' ' || account LIKE ? ESCAPE '\\'").join(' ')
    const patterns = terms.map((term) => `%${term.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`)
    const rows = this.#db
      .prepare(
        `SELECT id, job_id, user, account, exe, nodes, first_ms FROM job
          WHERE cluster = ? AND id > (SELECT max(id) FROM job) - ${SEARCHED_MAX} ${tests} ORDER BY id DESC LIMIT ?`,
      )
      .all(this.id, ...patterns, limit) as JobRow[]
    return rows.flatMap((row) => historyJob(row) ?? [])
  }

  target(key: number): HistoryTarget | undefined {
    return this.#db.prepare(`SELECT ${TARGET} WHERE cluster = ? AND id = ?`).get(this.id, key) as
      HistoryTarget | undefined
  }

  allTargets(): readonly HistoryTarget[] {
    return this.#db
      .prepare(`SELECT ${TARGET} WHERE cluster = ? ORDER BY name LIMIT ${TARGETS_MAX}`)
      .all(this.id) as HistoryTarget[]
  }

  line(...[measure, span, points]: Parameters<HistoryReader['line']>): ReturnType<HistoryReader['line']> {
    return lineOf(this.#blocks, measure, span, points)
  }

  top(...[span, by, limit, points]: Parameters<HistoryReader['top']>): ReturnType<HistoryReader['top']> {
    return ended(this.topInSteps(span, by, limit, points))
  }

  topInSteps(...[span, by, limit, points]: Parameters<HistoryReader['top']>): ReturnType<HistoryReader['topInSteps']> {
    return topOf(this.#blocks, (key) => this.job(key), span, { by, limit, points })
  }

  movers(...[a, b, by, limit]: Parameters<HistoryReader['movers']>): ReturnType<HistoryReader['movers']> {
    return ended(this.moversInSteps(a, b, by, limit))
  }

  moversInSteps(...[a, b, by, limit]: Parameters<HistoryReader['movers']>): ReturnType<HistoryReader['moversInSteps']> {
    return moversOf(this.#blocks, (key) => this.job(key), { a, b }, by, limit)
  }

  rulesAt(atMs: number): ReturnType<HistoryReader['rulesAt']> {
    return this.#marks.rulesAt(atMs)
  }

  rulesBetween(fromMs: number, toMs: number): ReturnType<HistoryReader['rulesBetween']> {
    return this.#marks.rulesBetween(fromMs, toMs)
  }

  events(fromMs: number, toMs: number, limit: number): ReturnType<HistoryReader['events']> {
    return this.#marks.events(fromMs, toMs, limit)
  }

  mainEvents(fromMs: number, toMs: number, limit: number): ReturnType<HistoryReader['mainEvents']> {
    return this.#marks.mainEvents(fromMs, toMs, limit)
  }

  eventBeside(atMs: number, direction: 'next' | 'previous'): number | undefined {
    return this.#marks.eventBeside(atMs, direction)
  }

  gaps(fromMs: number, toMs: number): ReturnType<HistoryReader['gaps']> {
    return gapsOf(this.#db, this.id, this.#blocks, fromMs, toMs)
  }

  planeAt(...of: Parameters<HistoryReader['planeAt']>): ReturnType<HistoryReader['planeAt']> {
    return this.#planes.at(...of)
  }

  planeBetween(...of: Parameters<HistoryReader['planeBetween']>): ReturnType<HistoryReader['planeBetween']> {
    return this.#planes.between(...of)
  }

  planeTierFor(fromMs: number, toMs: number, points: number): TierId {
    return this.#planes.tierFor(fromMs, toMs, points)
  }

  planeSeries(key: number): ReturnType<HistoryReader['planeSeries']> {
    return this.#planes.series(key)
  }

  allPlaneSeries(...[table]: Parameters<HistoryReader['allPlaneSeries']>): ReturnType<HistoryReader['allPlaneSeries']> {
    return this.#planes.allSeries(table)
  }

  planeLine(...of: Parameters<HistoryReader['planeLine']>): ReturnType<HistoryReader['planeLine']> {
    return this.#planes.line(...of)
  }

  planeMovers(...of: Parameters<HistoryReader['planeMovers']>): ReturnType<HistoryReader['planeMovers']> {
    return this.#planes.movers(...of)
  }

  convoys(fromMs: number, toMs: number, limit: number): ReturnType<HistoryReader['convoys']> {
    return this.#convoys.between(this.id, fromMs, toMs, limit)
  }

  convoyFrame(id: number): unknown {
    return this.#convoys.frame(this.id, id)
  }

  close(): void {
    this.#close()
  }
}

/** Truncates names to the length that Sluice writes; a file of another origin may hold longer ones. */
const short = (name: string): string => name.slice(0, NAME_MAX)

const historyJob = (r: JobRow | undefined): HistoryJob | undefined =>
  r && {
    key: r.id,
    jobId: short(r.job_id),
    user: short(r.user),
    account: short(r.account),
    exe: short(r.exe),
    nodes: r.nodes,
    firstMs: r.first_ms,
  }
