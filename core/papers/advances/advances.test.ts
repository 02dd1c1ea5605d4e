import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ADVANCES } from '../../controllers/advances.ts'
import { runPapers, select } from '../claims.ts'
import { EXPERIMENTS } from '../registry.ts'
import { leastMetPeriod, meanTotal } from '../haechi/metrics.ts'
import type { NodeRun } from '../haechi/node-run.ts'
import { SYSTEM } from './advance.ts'

const pageOf = (page: string): URL => new URL(`../../../docs/${page}`, import.meta.url)

describe.each(ADVANCES.map((advance) => [advance.name, advance] as const))('%s', (name, { page }) => {
  it('is measured beside the original, and has requirements', () => {
    const { experiments } = select(EXPERIMENTS, [name])
    expect(experiments.map(({ id, system }) => [id, system])).toEqual([[`${SYSTEM}.${name}`, SYSTEM]])
    expect(experiments[0]!.expectations.filter(({ required }) => required !== undefined).length).toBeGreaterThan(0)
  })

  it('is in the list of the documentation, with the results of every requirement', () => {
    const text = readFileSync(pageOf('advances/README.md'), 'utf8')
    expect(text).toContain(`| \`${name}\` |`)
    const { expectations } = select(EXPERIMENTS, [name]).experiments[0]!
    for (const { claim } of expectations) expect(text).toContain(`| ${claim} |`)
  })

  it('has a page with its name, its rule and its limits', () => {
    expect(existsSync(pageOf(page))).toBe(true)
    const text = readFileSync(pageOf(page), 'utf8')
    for (const part of [`\`${name}\``, '## Rule', '## Why', '## Limits', '## Use']) expect(text).toContain(part)
  })
})

it('lists the advances in the order of their declaration, by their own system', () => {
  const { experiments, unknown } = select(EXPERIMENTS, [SYSTEM])
  expect(unknown).toEqual([])
  expect(experiments.map(({ id }) => id)).toEqual(ADVANCES.map(({ name }) => `${SYSTEM}.${name}`))
})

it('meets the requirements of psfa-adaptive on a seed, with the original beside each value', () => {
  const steps = runPapers(select(EXPERIMENTS, ['padll.psfa-adaptive']).experiments, [1], { now: () => 0 })
  let step = steps.next()
  while (!step.done) step = steps.next()
  const { claims } = step.value
  for (const { id, met, ok, required, original } of claims) {
    expect({ id, ok, met }).toEqual({ id, ok: true, met: required === undefined ? undefined : true })
    expect(original).toEqual(expect.any(Number))
  }
})

/** One part of the experiments, on one seed. */
function runOf(partId: string): NodeRun {
  const part = EXPERIMENTS.flatMap(({ parts }) => parts).find(({ id }) => id === partId)
  if (part === undefined) throw new Error(`no part ${partId}`)
  return part.run(1, { now: () => 0 }) as NodeRun
}

it('meets reservations by deadline that equal shares miss, and completes more', () => {
  for (const cell of ['2A zipf 90 %', '3 burst']) {
    const [original, advance] = ['original', 'deadline'].map((rule) =>
      runOf(`advances/haechi-deadline/${cell}/${rule}`),
    )
    expect(leastMetPeriod(original!)).toBeLessThan(0.98)
    expect(leastMetPeriod(advance!)).toBeGreaterThanOrEqual(1)
    expect(meanTotal(advance!)).toBeGreaterThan(meanTotal(original!))
  }
})

it('learns by evidence what three sigma take for low demand, and the reverse', () => {
  const omegaOf = (name: string): number => runOf(`advances/haechi-evidence/${name}`).omega.at(23)! / 1_570_000
  expect(omegaOf('traffic 15 %, sigma 0.1 %/original')).toBeGreaterThan(0.99)
  expect(omegaOf('traffic 15 %, sigma 0.1 %/evidence')).toBeCloseTo(0.85, 2)
  const lowOf = (rule: string): number =>
    Math.min(...runOf(`advances/haechi-evidence/low demand, constant 85 %, sigma 7 %/${rule}`).omega) / 1_570_000
  expect(lowOf('original')).toBeLessThan(0.9)
  expect(lowOf('evidence')).toBeGreaterThan(0.99)
})
