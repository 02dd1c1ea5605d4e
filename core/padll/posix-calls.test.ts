import { describe, expect, it } from 'vitest'
import {
  ALL_SWITCHES,
  CALL_CLASSES,
  modeSwitchOf,
  PADLL_SWITCHES,
  POSIX_CALLS,
  posixCall,
  UPSTREAM_SWITCHES,
} from './posix-calls.ts'

const padll = POSIX_CALLS.filter((call) => call.origin === 'padll')
const names = (type: string): string[] => padll.filter((call) => call.type === type).map((call) => call.name)

describe('the 42 calls', () => {
  it('are 42, in the published classes', () => {
    const sizes = CALL_CLASSES.map((klass) => [klass, padll.filter((call) => call.klass === klass).length])
    expect(Object.fromEntries(sizes)).toEqual({ data: 8, metadata: 18, directory: 5, ext_attr: 9, special: 2 })
    expect(padll).toHaveLength(42)
  })

  it('have 45 switches, of which `open` is on', () => {
    expect(new Set(PADLL_SWITCHES).size).toBe(45)
    expect(UPSTREAM_SWITCHES).toEqual(['open'])
    expect(padll.filter((call) => modeSwitchOf(call) !== call.name).map((call) => call.name)).toEqual([
      'open',
      'openat',
      'open64',
    ])
  })

  it('are told to the limiter under the published types', () => {
    expect(names('open')).toEqual(['open', 'creat', 'creat64', 'openat', 'open64'])
    expect(names('unlink')).toEqual(['unlink', 'unlinkat'])
    expect(names('rename')).toEqual(['rename', 'renameat'])
    expect(names('mkdir')).toEqual(['mkdir', 'mkdirat'])
    expect(names('mknod')).toEqual(['mknod', 'mknodat'])
    expect(names('getxattr')).toEqual(['getxattr', 'lgetxattr', 'fgetxattr'])
    expect(padll.filter((call) => call.type === null).map((call) => call.name)).toEqual(['sync', 'socket', 'fcntl'])
  })

  it('are dir_op for rmdir alone, data_op for data, meta_op for all the rest that is limited', () => {
    expect(padll.filter((call) => call.context === 'dir_op').map((call) => call.name)).toEqual(['rmdir'])
    for (const call of padll.filter((c) => c.type !== null && c.name !== 'rmdir')) {
      expect([call.name, call.context]).toEqual([call.name, call.klass === 'data' ? 'data_op' : 'meta_op'])
    }
  })

  it('cost bytes for reads and writes alone', () => {
    expect(padll.filter((call) => call.cost === 'bytes').map((call) => call.name)).toEqual([
      'read',
      'write',
      'pread',
      'pwrite',
      'pread64',
      'pwrite64',
    ])
  })
})

describe('our further calls', () => {
  it('cover calls that would otherwise escape: *64, *at, *_2, stat and the dup family', () => {
    for (const name of [
      'openat2',
      '__open_2',
      '__openat_2',
      'openat64',
      'statx',
      '__fxstatat',
      'dup3',
      'close_range',
    ]) {
      expect(posixCall(name)?.origin).toBe('sluice')
    }
    expect(posixCall('statx')?.type).toBe('getxattr')
    expect(new Set(ALL_SWITCHES).size).toBe(ALL_SWITCHES.length)
  })

  it('do not answer to names that are no call', () => {
    for (const name of ['constructor', '__proto__', 'toString', '', 'OPEN', 'open_mode']) {
      expect(posixCall(name)).toBeUndefined()
    }
  })
})
