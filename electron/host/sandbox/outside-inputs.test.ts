import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { readScenarioText } from '#core/emulator/scenario.ts'
import { outsideInputs, outsideSentence } from './outside-inputs.ts'

const demo = readFileSync(new URL('../../../resources/scenarios/demo.yaml', import.meta.url), 'utf8')
function reported(text: string, planes = true): string[] {
  const read = readScenarioText(text)
  if (!read.ok) throw new Error(read.error[0]?.message)
  return outsideInputs(read.value, { planes }).map(outsideSentence)
}

it('every input outside the model is said with its bound and its reason', () => {
  const all = reported(demo.replace('period_ms: 100', 'period_ms: 50'))
  expect(all).toContain(
    'AdapTBF period of 50 ms is below the period it was validated with, 100 ms. A cycle of the published controller takes 25 ms, which the model does not charge.',
  )
  expect(all.join('\n')).toMatch(/An append of 512 B of \S+ is not among whole pages of 4 KiB\. A partly written page/)
  for (const sentence of all) expect(sentence).toMatch(/ is (below|above|not among) .+\. [A-Z].+\.$/)
})

it('what a plane beside Lustre has is not said of a run without it', () => {
  expect(reported(demo, false)).toEqual([])
  expect(reported(demo).length).toBeGreaterThan(0)
})
