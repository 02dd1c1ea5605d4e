/** JSON printed by a command, and the contents of the audit in its data folder. */
import { expect } from 'vitest'
import { EnforcementStore, storeFile } from '#electron/enforce/store.ts'
import type { Ended } from './in-process.ts'

/** The last line. */
export const json = (e: Ended): Record<string, unknown> => JSON.parse(e.stdout.trim().split('\n').at(-1) ?? '') as never

/** Refusal printed by `--json`. */
export const errorOf = (e: Ended): Record<string, unknown> => json(e)['error'] as never

/** Every complete line. */
export const jsonLines = (text: string): Record<string, unknown>[] =>
  text
    .split('\n')
    .slice(0, -1)
    .map((l) => JSON.parse(l) as Record<string, unknown>)

/** Texts of the records in order; the chain must be valid. */
export function auditTexts(data: string): string[] {
  const store = EnforcementStore.openForReading(storeFile(data))
  if (!store.ok) throw new Error(store.error.why)
  const { chain } = store.value
  const texts = chain.read(1, chain.last?.number ?? 0).map((r) => r.text)
  expect(store.value.verify().bad).toBeUndefined()
  store.value.close()
  return texts
}
