/** Commands of the settings, and those that change one from everywhere. */
import type { CommandEntry } from '../command.ts'

export const settingsCommands = [
  { id: 'settings.search', title: 'Search the settings', scope: 'settings', keys: ['/'] },
  { id: 'settings.high-contrast', title: 'High contrast on or off', scope: 'everywhere', group: 'Look', keys: [] },
  { id: 'settings.units', title: 'Next units of bytes: MB, MiB', scope: 'everywhere', group: 'Look', keys: [] },
  { id: 'settings.clock', title: 'Clock: UTC or local', scope: 'everywhere', group: 'Look', keys: [] },
] as const satisfies readonly CommandEntry[]
