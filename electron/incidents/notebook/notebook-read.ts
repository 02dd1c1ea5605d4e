/** The text of a notebook as a value. Whoever wrote it: a schema speaks first, and a newer one is not guessed at. */
import * as z from 'zod'
import { fail, ok, type Result } from '#core/base/result.ts'
import { incident, NOTEBOOK_FORMAT, type Incident } from '#core/snapshot/notebook.ts'

/** Longest document that is read or written, bytes. */
export const DOCUMENT_BYTES = 32 * 2 ** 20

/** Turns a document of one format into one of the next; by the format that it is of. There has been one format so far. */
export type Upgrades = ReadonlyMap<number, (document: Record<string, unknown>) => Record<string, unknown>>
const UPGRADES: Upgrades = new Map()

const anyFormat = z.looseObject({ format: z.number().int().positive().max(1e6) })

/** First thing that is wrong, and where. */
function faultOf(error: z.ZodError): string {
  const issue = error.issues[0]
  const where = issue && issue.path.length > 0 ? `${issue.path.map(String).join('.').slice(0, 100)}: ` : ''
  return `it is damaged: ${where}${(issue?.message ?? 'it has another form').slice(0, 200)}`
}

/**
 * @param id        by its file's name; one that says another is not read.
 * @param upgrades  (tests) steps from older formats.
 * @returns         why it is not read, in words.
 */
export function readNotebook(
  text: string,
  id: string,
  upgrades: Upgrades = UPGRADES,
  newest = NOTEBOOK_FORMAT,
): Result<Incident, string> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return fail('it is damaged: it is no JSON')
  }
  const head = anyFormat.safeParse(value)
  if (!head.success) return fail(faultOf(head.error))
  let document: Record<string, unknown> = head.data
  const { format } = head.data
  if (format > newest) {
    return fail(`a newer Sluice wrote it (format ${format}); this one reads up to ${newest}`)
  }
  for (let of = format; of < newest; of++) {
    const step = upgrades.get(of)
    if (!step) return fail(`it is of format ${format}, which is not known`)
    document = { ...step(document), format: of + 1 }
  }
  const read = incident.safeParse(document)
  if (!read.success) return fail(faultOf(read.error))
  return read.data.id === id ? ok(read.data) : fail(`it says that it is ${read.data.id}`)
}
