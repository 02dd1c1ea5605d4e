/** Catalogue of all commands of the window; each area lists its own in catalogue/. */
import type { CommandEntry } from './command.ts'
import { chartsCommands } from './catalogue/charts.ts'
import { connectionsCommands } from './catalogue/connections.ts'
import { editsCommands } from './catalogue/edits.ts'
import { frameCommands } from './catalogue/frame.ts'
import { helpCommands } from './catalogue/help.ts'
import { historyCommands } from './catalogue/history.ts'
import { incidentsCommands } from './catalogue/incidents.ts'
import { jobsCommands } from './catalogue/jobs.ts'
import { locksCommands } from './catalogue/locks.ts'
import { metadataCommands } from './catalogue/metadata.ts'
import { overviewCommands } from './catalogue/overview.ts'
import { papersCommands } from './catalogue/papers.ts'
import { rulesCommands } from './catalogue/rules.ts'
import { sandboxCommands } from './catalogue/sandbox.ts'
import { tablesCommands } from './catalogue/tables.ts'
import { settingsCommands } from './catalogue/settings.ts'
import { timeCommands } from './catalogue/time.ts'
import { tokensCommands } from './catalogue/tokens.ts'

const all = [
  ...frameCommands,
  ...timeCommands,
  ...tablesCommands,
  ...chartsCommands,
  ...overviewCommands,
  ...jobsCommands,
  ...rulesCommands,
  ...locksCommands,
  ...metadataCommands,
  ...tokensCommands,
  ...sandboxCommands,
  ...historyCommands,
  ...incidentsCommands,
  ...connectionsCommands,
  ...papersCommands,
  ...helpCommands,
  ...editsCommands,
  ...settingsCommands,
] as const

export type CommandId = (typeof all)[number]['id']
export const catalogue: readonly (CommandEntry & { readonly id: CommandId })[] = all
