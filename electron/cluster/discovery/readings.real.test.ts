import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const sample = (name: string): string => join(import.meta.dirname, '../../../resources/sudoers', name)

describe('the samples of sudoers', () => {
  it.skipIf(!existsSync('/usr/sbin/visudo'))('are taken by visudo', () => {
    for (const name of ['sluice-read', 'sluice-write']) {
      expect(execFileSync('/usr/sbin/visudo', ['-cf', sample(name)], { encoding: 'utf8' })).toMatch(/parsed OK/)
    }
  })
})
