import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ADVANCES } from '../../controllers/advances.ts'
import { runPapers, select } from '../claims.ts'
import { EXPERIMENTS } from '../registry.ts'
import { SYSTEM } from './advance.ts'

const pageOf = (page: string): URL => new URL(`../../../docs/${page}`, import.meta.url)

describe.each(ADVANCES.map((advance) => [advance.name, advance] as const))('%s', (name, { page }) => {
  it('is measured beside the original, and has requirements', () => {
    const { experiments } = select(EXPERIMENTS, [name])
    expect(experiments.map(({ id, system }) => [id, system])).toEqual([[`${SYSTEM}.${name}`, SYSTEM]])
    expect(experiments[0]!.expectations.filter(({ required }) => required !== undefined).length).toBeGreaterThan(0)
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
