/** Parameter grid of a sweep: values for paths of a scenario, and the scenario of each point. */
import { isMap, isSeq, parse as parseYaml, parseDocument } from 'yaml'
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import { parseScenario, type Scenario } from '#core/emulator/scenario.ts'

export type AxisValue = string | number | boolean | null

/** Path in the scenario, `control.max_rate` or `oss.0.threads`, and its values. */
export interface Axis {
  readonly path: string
  readonly values: readonly AxisValue[]
}

/** One value per axis, in order. */
export type Point = readonly AxisValue[]

export const AXES_MAX = 8
export const VALUES_MAX = 1000
export const POINTS_MAX = 4096

const refuse = (what: string, why: string, next: string): Result<never> =>
  fail({ code: 'SWEEP_GRID', what, why, unaffected: 'Nothing was run.', next })

const AS = 'Write it as --set control.max_rate=300,400,500.'

function scalar(text: string): AxisValue | undefined {
  let value: unknown
  try {
    value = parseYaml(text)
  } catch {
    return undefined
  }
  const isScalar =
    value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
  return isScalar ? (value as AxisValue) : undefined
}

/** Parses `PATH=VALUE,VALUE`. Failures: SWEEP_GRID. */
export function parseAxis(text: string): Result<Axis> {
  const equals = text.indexOf('=')
  const path = text.slice(0, Math.max(0, equals)).trim()
  const what = `--set ${text.slice(0, 80)} cannot be used`
  if (!/^[A-Za-z_]\w*(?:\.\w+)*$/.test(path) || path.length > 200) return refuse(what, 'it has no valid path', AS)
  const entries = text.slice(equals + 1).split(',')
  const values = entries.map((text) => scalar(text.trim()))
  const bad = values.indexOf(undefined)
  if (bad >= 0 || entries.some((w) => w.trim() === '')) {
    return refuse(what, bad >= 0 ? `${entries[bad] ?? ''} is not a value` : 'a value is empty', AS)
  }
  const known = values as AxisValue[]
  if (known.length > VALUES_MAX) return refuse(what, `at most ${VALUES_MAX} values`, 'Give fewer.')
  if (new Set(known.map((v) => JSON.stringify(v))).size < known.length) {
    return refuse(what, 'a value is given twice', 'Give each once.')
  }
  return ok({ path, values: known })
}

/** All points, the last axis fastest; one empty point without axes. Failures: SWEEP_GRID. */
export function pointsOf(axes: readonly Axis[]): Result<Point[]> {
  const what = 'The grid cannot be used'
  const twice = axes.find((a, i) => axes.findIndex((b) => b.path === a.path) < i)
  if (twice) return refuse(what, `${twice.path} is set twice`, 'Give all of its values in one --set.')
  if (axes.length > AXES_MAX) return refuse(what, `at most ${AXES_MAX} paths`, 'Sweep over fewer.')
  const count = axes.reduce((n, a) => n * a.values.length, 1)
  if (count > POINTS_MAX) return refuse(what, `${count} points; at most ${POINTS_MAX}`, 'Give fewer values.')
  return ok(axes.reduce<Point[]>((points, a) => points.flatMap((p) => a.values.map((v) => [...p, v])), [[]]))
}

/** Formats a point, `control.max_rate=300 control.period_ms=50`; `unchanged` for the point of an empty grid. */
export const pointText = (axes: readonly Axis[], point: Point): string =>
  axes.length === 0 ? 'unchanged' : axes.map((a, i) => `${a.path}=${String(point[i])}`).join(' ')

/**
 * Reason why a path does not exist in the file's contents; undefined if it may. Keys unknown to scenarios are found by the schema.
 */
function deadEnd(contents: unknown, path: readonly string[]): string | undefined {
  let node = contents
  for (const [i, key] of path.entries()) {
    const at = path.slice(0, i).join('.')
    if (isSeq(node)) {
      if (!/^\d+$/.test(key)) return `${at} is a list: name an entry by its number, from 0`
      if (Number(key) >= node.items.length) return `${at} has only ${node.items.length} entries`
      node = node.items[Number(key)]
    } else if (isMap(node)) {
      node = node.get(key, true)
      // Below an absent key everything is created.
      if (node === undefined || node === null) return undefined
    } else return `${at} has nothing below it`
  }
  return undefined
}

let last: { readonly text: string; readonly read: ReturnType<typeof parseScenario> } | undefined

/** Parses the scenario of the file, cached for the thousands of points. */
function parsed(text: string): ReturnType<typeof parseScenario> {
  if (last?.text !== text) last = { text, read: parseScenario(text) }
  return last.read
}

/** Scenario at a point. Failures: those of `parseScenario`, and SWEEP_PATH if a path does not exist; each names the point. */
export function scenarioAt(text: string, axes: readonly Axis[], point: Point): Result<Scenario> {
  const where = pointText(axes, point)
  const invalid = (f: Failure): Result<never> =>
    fail({ ...f, what: `At ${where}: ${f.what}`, unaffected: 'Nothing was run.' })
  if (axes.length === 0) return parseScenario(text)
  const plain = parsed(text)
  if (!plain.ok) return plain
  const document = parseDocument(text)
  for (const [i, { path }] of axes.entries()) {
    const keys = path.split('.')
    const wrong = deadEnd(document.contents, keys)
    const failure = { code: 'SWEEP_PATH', what: `${path} cannot be set`, next: 'Name a path of the scenario.' }
    if (wrong !== undefined) return invalid({ ...failure, why: wrong })
    try {
      document.setIn(keys, point[i])
    } catch (e) {
      return invalid({ ...failure, why: e instanceof Error ? e.message : String(e) })
    }
  }
  const read = parseScenario(document.toString(), 'scenario')
  return read.ok ? read : invalid(read.error)
}
