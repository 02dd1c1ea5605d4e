import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { dataDir, defaultHistoryFile } from './data-dir.ts'

it('chooses the folder by platform and environment', () => {
  const linux = { platform: 'linux', home: '/home/ana', env: {} } as const
  expect(dataDir(linux)).toBe('/home/ana/.local/share/sluice')
  expect(dataDir({ ...linux, env: { XDG_DATA_HOME: '/data' } })).toBe('/data/sluice')
  expect(dataDir({ ...linux, env: { XDG_DATA_HOME: '/data', SLUICE_DATA: '/here' } })).toBe('/here')
  expect(dataDir({ ...linux, platform: 'darwin' })).toBe('/home/ana/Library/Application Support/Sluice')
  expect(dataDir({ ...linux, platform: 'win32', env: { LOCALAPPDATA: '/local' } })).toBe(join('/local', 'Sluice'))
})

it('makes a folder for the owner only, and says why it cannot', () => {
  const home = mkdtempSync(join(tmpdir(), 'sluice-data-'))
  try {
    const made = defaultHistoryFile({ platform: 'linux', home, env: {} })
    expect(made).toEqual({ ok: true, value: join(home, '.local/share/sluice/history.sqlite') })
    expect(statSync(join(home, '.local/share/sluice')).mode & 0o777).toBe(0o700)
    writeFileSync(join(home, 'file'), '')
    const refused = defaultHistoryFile({ env: { SLUICE_DATA: join(home, 'file/inside') } })
    expect(refused).toMatchObject({ ok: false, error: { code: 'DATA_DIR' } })
  } finally {
    rmSync(home, { recursive: true })
  }
})
