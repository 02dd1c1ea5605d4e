/**
 * Policy lines for the form: `<rule> <second> <job|demand> <job> <scope> <value>`, parted by blanks. The text stays the
 * truth; a field that is not filled in stands in it as `?`, so that the others keep their places.
 */
export const FIELDS = ['rule', 'at', 'kind', 'job', 'scope', 'value'] as const
export type PolicyField = (typeof FIELDS)[number]
export type PolicyFields = Readonly<Record<PolicyField, string>>

/** One policy of a text. */
export interface PolicyLine {
  /** From 1. */
  readonly line: number
  readonly fields: PolicyFields
  /** Column of each field, from 1; 0 where the line has fewer words. */
  readonly columns: Readonly<Record<PolicyField, number>>
}

const OPEN = '?'
const isPolicy = (line: string): boolean => /\S/.test(line) && !/^\s*#/.test(line)

/** The policies of a text in the line format, in its order; blank lines and comments are passed over. */
export function readLines(text: string): PolicyLine[] {
  return text.split('\n').flatMap((line, i) => {
    if (!isPolicy(line)) return []
    const words = [...line.matchAll(/\S+/g)]
    const fields: Record<string, string> = {}
    const columns: Record<string, number> = {}
    FIELDS.forEach((field, k) => {
      const word = words[k]
      fields[field] = word === undefined || word[0] === OPEN ? '' : word[0]
      columns[field] = word === undefined ? 0 : word.index + 1
    })
    return [{ line: i + 1, fields: fields as PolicyFields, columns: columns as PolicyLine['columns'] }]
  })
}

/** A blank within a field would be the end of it. */
const word = (field: string): string => field.replace(/\s+/g, '') || OPEN
export const formatLine = (fields: PolicyFields): string => FIELDS.map((f) => word(fields[f])).join(' ')

/** The text with another policy in `line`; null takes the line out. */
export function withLine(text: string, line: number, fields: PolicyFields | null): string {
  const lines = text.split('\n')
  if (fields === null) lines.splice(line - 1, 1)
  else lines[line - 1] = formatLine(fields)
  return lines.join('\n')
}

/** The text with one policy more, at its end. */
export function withPolicy(text: string, fields: PolicyFields): string {
  const body = text.replace(/\s+$/, '')
  return `${body === '' ? '' : `${body}\n`}${formatLine(fields)}\n`
}

/** A number for the next rule: one more than the largest. */
export const nextRule = (lines: readonly PolicyLine[]): string =>
  String(lines.reduce((most, { fields }) => Math.max(most, /^\d+$/.test(fields.rule) ? Number(fields.rule) : 0), 0) + 1)

/** The field of a line that a fault points at: the word under its column, or the next one. */
export function fieldAt({ columns, fields }: PolicyLine, column: number): PolicyField | null {
  for (const field of FIELDS) {
    const from = columns[field]
    if (from > 0 && column < from + Math.max(1, fields[field].length)) return field
  }
  return FIELDS.find((field) => columns[field] === 0) ?? null
}

/** YAML starts with a name, a list or a bracket; a policy with its number. */
export function looksLikeYaml(text: string): boolean {
  const first = text.split('\n').find(isPolicy)?.trim() ?? ''
  return /^(---|[[{]|-\s|["']?[A-Za-z_][\w ]*["']?\s*:)/.test(first)
}
