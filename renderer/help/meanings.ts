/** Explanations of all numbers of the window. */
import type { Meaning } from './meaning.ts'
import { connectionsMeanings } from './meanings/connections.ts'
import { historyMeanings } from './meanings/history.ts'
import { incidentsMeanings } from './meanings/incidents.ts'
import { jobsMeanings } from './meanings/jobs.ts'
import { legendMeanings } from './meanings/legends.ts'
import { locksMeanings } from './meanings/locks.ts'
import { metadataMeanings } from './meanings/metadata.ts'
import { overviewMeanings } from './meanings/overview.ts'
import { papersMeanings } from './meanings/papers.ts'
import { rulesMeanings } from './meanings/rules.ts'
import { sandboxMeanings } from './meanings/sandbox.ts'
import { statusMeanings } from './meanings/status.ts'
import { tokensMeanings } from './meanings/tokens.ts'

export const meanings: readonly Meaning[] = [
  ...overviewMeanings,
  ...jobsMeanings,
  ...rulesMeanings,
  ...locksMeanings,
  ...metadataMeanings,
  ...tokensMeanings,
  ...sandboxMeanings,
  ...historyMeanings,
  ...incidentsMeanings,
  ...connectionsMeanings,
  ...statusMeanings,
  ...papersMeanings,
  ...legendMeanings,
]
const byId = new Map(meanings.map((m) => [m.id, m]))
export const meaningOf = (id: string): Meaning | undefined => byId.get(id)

/** Explanations of one view, in display order. */
export const meaningsOf = (view: string): Meaning[] => meanings.filter(({ id }) => id.startsWith(`${view}.`))
