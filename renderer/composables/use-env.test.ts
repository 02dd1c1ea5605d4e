import { expect, it } from 'vitest'
import { envStyle } from './use-env.ts'

it('gives every environment a text color of its own', () => {
  const texts = (['PROD', 'STAGE', 'DEV', 'DEMO'] as const).map((env) => envStyle(env)['--env-text'])
  expect(new Set(texts).size).toBe(4)
  expect(envStyle('DEV')).toEqual({ '--env': 'var(--env-dev)', '--env-text': 'var(--accent)' })
})
