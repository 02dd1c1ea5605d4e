/**
 * Policy lines for the form: `<rule> <second> <job|demand> <job> <scope> <value>`, separated by spaces. The text is
 * authoritative; an empty field is `?` in it, so that the others keep their places.
 */
export const FIELDS = ['rule', 'at', 'kind', 'job', 'scope', 'value'] as const
export type PolicyField = (typeof FIELDS)[number]
export type PolicyFields = Readonly<Record<PolicyField, string>>

/** One policy of a text. */
export interface PolicyLine {
  /** Line number, from 1. */
  readonly line: number
  readonly fields: PolicyFields
  /** Column of each field, from 1; 0 if the line has fewer words. */
  readonly columns: Readonly<Record<PolicyField, number>>
}

const OPEN = '?'
const isPolicy = (line: string): boolean => /\S/.test(line) && !/^\s*#/.test(line)

/** Parses the policies of a text in the line format, in order; blank lines and comments are skipped. */
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

/** Removes spaces, which would end the field. */
const word = (field: string): string => field.replace(/\s+/g, '') || OPEN
export const formatLine = (fields: PolicyFields): string => FIELDS.map((f) => word(fields[f])).join(' ')

/** Replaces the policy in `line`; null removes the line. */
export function withLine(text: string, line: number, fields: PolicyFields | null): string {
  const lines = text.split('\n')
  if (fields === null) lines.splice(line - 1, 1)
  else lines[line - 1] = formatLine(fields)
  return lines.join('\n')
}

/** Appends a policy to the text. */
export function withPolicy(text: string, fields: PolicyFields): string {
  const body = text.replace(/\s+$/, '')
  return `${body === '' ? '' : `${body}\n`}${formatLine(fields)}\n`
}

/** Returns the number of the next rule: one more than the largest. */
export const nextRule = (lines: readonly PolicyLine[]): string =>
  String(lines.reduce((most, { fields }) => Math.max(most, /^\d+$/.test(fields.rule) ? Number(fields.rule) : 0), 0) + 1)

/** Returns the field of a line at a column: the word there, or the next one. */
export function fieldAt({ columns, fields }: PolicyLine, column: number): PolicyField | null {
  for (const field of FIELDS) {
    const from = columns[field]
    if (from > 0 && column < from + Math.max(1, fields[field].length)) return field
  }
  return FIELDS.find((field) => columns[field] === 0) ?? null
}

/** True for YAML, which starts with a name, a list or a bracket; a policy starts with its number. */
export function looksLikeYaml(text: string): boolean {
  const first = text.split('\n').find(isPolicy)?.trim() ?? ''
  return /^(---|[[{]|-\s|["']?[A-Za-z_][\w ]*["']?\s*:)/.test(first)
}
