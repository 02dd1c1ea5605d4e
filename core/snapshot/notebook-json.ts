/** The one text of a notebook: what is kept on disk, what a bundle holds, and what its hash is of. */
import { incident, type Incident } from './notebook.ts'
import { byCodeUnit } from '../base/order.ts'

/** Keys in order of code units, so that the same content is the same text whoever made it. */
function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => byCodeUnit(a, b))
      .map(([key, of]) => [key, ordered(of)]),
  )
}

/**
 * The canonical text of a notebook: JSON, keys in order of code units, one blank a level, a newline at the end. What the schema does not
 * know is left out.
 *
 * @throws  what the schema says of a value that is no notebook.
 */
export const notebookJson = (of: Incident): string => `${JSON.stringify(ordered(incident.parse(of)), null, 1)}\n`
