/** JSON that a command printed, and what stands in the audit of its data folder. */
import { expect } from 'vitest'
import { EnforcementStore, storeFile } from '#electron/enforce/store.ts'
import type { Ended } from './in-process.ts'

/** The last line. */
export const json = (e: Ended): Record<string, unknown> => JSON.parse(e.stdout.trim().split('\n').at(-1) ?? '') as never

/** What `--json` says of a refusal. */
export const errorOf = (e: Ended): Record<string, unknown> => json(e)['error'] as never

/** Every line that ended. */
export const jsonLines = (text: string): Record<string, unknown>[] =>
  text
    .split('\n')
    .slice(0, -1)
    .map((l) => JSON.parse(l) as Record<string, unknown>)

/** Texts of the records, first to last, of a chain that holds. */
export function auditTexts(data: string): string[] {
  const store = EnforcementStore.openForReading(storeFile(data))
  if (!store.ok) throw new Error(store.error.why)
  const { chain } = store.value
  const texts = chain.read(1, chain.last?.number ?? 0).map((r) => r.text)
  expect(store.value.verify().bad).toBeUndefined()
  store.value.close()
  return texts
}
