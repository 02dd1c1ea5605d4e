/**
 * Housekeeping files as YAML:
 *
 *     channels:
 *       - channel: 1000
 *         class: meta_op
 *         objects:
 *           - { object: 1, refill_us: 10000, rate: 500000 }
 *
 * `operation` or `class` selects a channel's requests, `workflow` their workflow (0: any), `context_type` the type of
 * its conditions. An object inherits its channel's selection unless it has its own; without a rate it limits nothing.
 * Each item is parsed as its line in the text format, so both formats have the same keywords and bounds.
 */
import { isMap, isScalar, isSeq, LineCounter, parseDocument, type YAMLMap } from 'yaml'
import { type HousekeepingFile, parseHousekeeping } from './housekeeping.ts'
import { LINES_MAX, type RuleFault, shown } from './rule-fault.ts'

const CHANNEL_KEYS = ['channel', 'rule', 'context_type', 'workflow', 'operation', 'class', 'objects'] as const
const OBJECT_KEYS = ['object', 'rule', 'context_type', 'operation', 'class', 'refill_us', 'rate'] as const

/** True for text meant as YAML: its first line with content begins with `channels:`. */
export function looksLikeHousekeepingYaml(text: string): boolean {
  const first = text.split('\n').find((line) => line.trim() !== '' && !/^\s*(#|---)/.test(line))
  return first !== undefined && /^\s*["']?channels["']?\s*:/.test(first)
}

class ItemReader {
  readonly faults: RuleFault[] = []
  readonly #lines: LineCounter

  constructor(lines: LineCounter) {
    this.#lines = lines
  }

  wrong(node: { readonly range?: readonly number[] | null | undefined } | null | undefined, message: string): void {
    const { line, col } = this.#lines.linePos(node?.range?.[0] ?? 0)
    this.faults.push({ line, column: col, length: 1, severity: 'error', message })
  }

  lineOf(map: YAMLMap): number {
    return this.#lines.linePos(map.range?.[0] ?? 0).line
  }

  /** Values of a map as fields of a rule; undefined if any is not valid. */
  words(map: YAMLMap, known: readonly string[]): Map<string, string> | undefined {
    const values = new Map<string, string>()
    for (const { key, value } of map.items) {
      const name = isScalar(key) ? String(key.value) : ''
      if (!known.includes(name)) {
        this.wrong(isScalar(key) ? key : map, `"${shown(name)}" is unknown: expected ${known.join(', ')}`)
        return undefined
      }
      if (name === 'objects') continue
      const text = isScalar(value) ? String(value.value) : ''
      if (!/^[\w.-]+$/.test(text)) {
        this.wrong(isScalar(value) ? value : map, `${name}: "${shown(text)}" is not a single word`)
        return undefined
      }
      values.set(name, text)
    }
    return values
  }
}

/** Parses a housekeeping file in YAML; valid items are kept. Faults are located at the item. */
export function parseHousekeepingYaml(text: string): HousekeepingFile {
  const counter = new LineCounter()
  const document = parseDocument(text, { lineCounter: counter, uniqueKeys: true })
  const reader = new ItemReader(counter)
  for (const e of document.errors.slice(0, 100)) {
    reader.wrong({ range: e.pos }, (e.message.split('\n')[0] ?? '').replace(/ at line \d+.*$/, ''))
  }
  if (document.errors.length > 0) return { rules: [], faults: reader.faults }
  const root: unknown = document.contents
  const channels: unknown = isMap(root) ? root.get('channels', true) : undefined
  if (!isMap(root) || !isSeq(channels)) {
    reader.wrong(isMap(root) ? root : undefined, 'expected "channels:" with a list')
    return { rules: [], faults: reader.faults }
  }
  const rows: { readonly text: string; readonly line: number }[] = []
  for (const item of channels.items.slice(0, LINES_MAX)) {
    if (!isMap(item)) {
      reader.wrong(isScalar(item) || isSeq(item) ? item : channels, 'expected a channel')
      continue
    }
    const w = reader.words(item, CHANNEL_KEYS)
    if (!w) continue
    const of = (fields: ReadonlyMap<string, string>, name: string, otherwise: string): string =>
      fields.get(name) ?? w.get(name) ?? otherwise
    const operation = of(w, 'operation', 'no_op')
    const type = of(w, 'context_type', operation === 'no_op' ? 'posix_meta' : 'posix')
    const rule = w.get('rule') ?? String(rows.length + 1)
    const channel = w.get('channel') ?? '?'
    const head = `${rule} create_channel ${channel} ${type} ${w.get('workflow') ?? '0'} ${operation} ${of(w, 'class', 'no_op')}`
    rows.push({ text: head, line: reader.lineOf(item) })
    const objects: unknown = item.get('objects', true)
    for (const o of isSeq(objects) ? objects.items : []) {
      const fields = isMap(o) ? reader.words(o, OBJECT_KEYS) : undefined
      if (!isMap(o)) reader.wrong(item, 'expected an object: { object, refill_us, rate }')
      if (!fields || !isMap(o)) continue
      const bucket = fields.has('rate') ? `drl ${fields.get('refill_us') ?? '10000'} ${fields.get('rate')}` : 'noop 0 0'
      const what = `${of(fields, 'operation', 'no_op')} ${of(fields, 'class', 'no_op')}`
      const number = fields.get('rule') ?? String(rows.length + 1)
      const line = `${number} create_object ${channel} ${fields.get('object') ?? '?'} ${fields.get('context_type') ?? type} ${what} ${bucket}`
      rows.push({ text: line, line: reader.lineOf(o) })
    }
  }
  const read = parseHousekeeping(rows.map((r) => r.text).join('\n'))
  const faults = read.faults.map((f) => ({ ...f, line: rows[f.line - 1]?.line ?? f.line, column: 1, length: 1 }))
  return { rules: read.rules, faults: [...reader.faults, ...faults].sort((a, b) => a.line - b.line) }
}

/** Parses a housekeeping file in either format. */
export const parseHousekeepingFile = (text: string): HousekeepingFile =>
  looksLikeHousekeepingYaml(text) ? parseHousekeepingYaml(text) : parseHousekeeping(text)
