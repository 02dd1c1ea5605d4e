/** Canonical JSON of a notebook: the text that is stored, bundled and hashed. */
import { incident, type Incident } from './notebook.ts'
import { byCodeUnit } from '../base/order.ts'

/** Sorts keys by code units, so that equal content gives equal text. */
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
 * Canonical text of a notebook: JSON, keys in order of code units, one blank per level, a newline at the end. Keys unknown to
 * the schema are dropped.
 *
 * @throws  the schema's error if the value is not a valid notebook.
 */
export const notebookJson = (of: Incident): string => `${JSON.stringify(ordered(incident.parse(of)), null, 1)}\n`
