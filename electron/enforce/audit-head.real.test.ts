import { spawnSync } from 'node:child_process'
import fs, { readdirSync, readFileSync, statSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { basename, join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { tempFolder } from '../../tests/node/temp-folder.ts'
import { headFile, type AuditHead } from './audit-head.ts'

const headOf = (number: number): AuditHead => ({ last: { number, hash: 'a'.repeat(64) }, next: null })

afterEach(() => {
  vi.restoreAllMocks()
  syncBuiltinESMExports()
})

describe('exploit: a head of the audit that', () => {
  it('the disk took half of leaves the whole one before it', () => {
    const file = join(tempFolder(), 'enforcement.sqlite.head')
    headFile(file).write(headOf(1))
    const program = `
      const { headFile } = await import(${JSON.stringify(new URL('./audit-head.ts', import.meta.url).href)})
      try {
        headFile(${JSON.stringify(file)}).write(${JSON.stringify(headOf(2))})
        console.log('written')
      } catch (e) {
        console.log(e.code)
      }`
    // Under the limit a write takes what fits and refuses the rest, like a disk that fills up.
    const limited = ['--fsize=64', process.execPath, '--input-type=module', '-e', program]
    const ran = spawnSync('prlimit', limited, { encoding: 'utf8' })
    expect(ran.error).toBeUndefined()
    expect(ran.stdout.trim()).toBe('EFBIG')
    expect(headFile(file).read()).toEqual(headOf(1))
    expect(readdirSync(join(file, '..'))).toEqual([basename(file)])
  })

  it('is named is on the disk before its name is, and its name before the record follows', () => {
    const file = join(tempFolder(), 'enforcement.sqlite.head')
    const calls: string[] = []
    const { fsyncSync, renameSync } = fs
    vi.spyOn(fs, 'fsyncSync').mockImplementation((handle) => {
      calls.push(fs.fstatSync(handle).isDirectory() ? 'folder synced' : `${fs.fstatSync(handle).size} bytes synced`)
      fsyncSync(handle)
    })
    vi.spyOn(fs, 'renameSync').mockImplementation((from, to) => {
      calls.push('named')
      renameSync(from, to)
    })
    syncBuiltinESMExports()
    headFile(file).write(headOf(1))
    expect(calls).toEqual([`${readFileSync(file).length} bytes synced`, 'named', 'folder synced'])
    expect(statSync(file).mode & 0o777).toBe(0o600)
  })
})
