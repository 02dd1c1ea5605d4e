/** Commands of the Settings view, and global commands that change a setting. */
import type { CommandEntry } from '../command.ts'

export const settingsCommands = [
  { id: 'settings.search', title: 'Search settings', scope: 'settings', keys: ['/'] },
  { id: 'settings.high-contrast', title: 'Toggle high contrast', scope: 'everywhere', group: 'Appearance', keys: [] },
  { id: 'settings.units', title: 'Switch byte units: MB, MiB', scope: 'everywhere', group: 'Appearance', keys: [] },
  { id: 'settings.clock', title: 'Switch clock: UTC or local', scope: 'everywhere', group: 'Appearance', keys: [] },
] as const satisfies readonly CommandEntry[]
