import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { MANIFEST } from '#core/snapshot/manifest.ts'
import { tempFolder } from '../../../tests/node/temp-folder.ts'
import { openZip } from './zip-in.ts'
import { writeZip, type ZipMember } from './zip-out.ts'

let folder: string
beforeEach(() => {
  folder = tempFolder()
})

const member = (name: string, text: string, level?: number): ZipMember => ({
  name,
  content: () => text,
  ...(level === undefined ? {} : { level }),
})
const manifest = () => member(MANIFEST, '{}')

describe('a bundle is written', () => {
  it('so that other programs read it', async (ctx) => {
    const file = join(folder, 'x.zip')
    const members = [
      member('csv/a.csv', 'x,y\r\n'.repeat(50_000), 1),
      member('notebook.json', 'é'),
      member('rules/before.txt', ''),
    ]
    expect((await writeZip(file, members, [manifest])).ok).toBe(true)
    const program = 'import zipfile,sys; z=zipfile.ZipFile(sys.argv[1]); print(z.testzip(), z.namelist())'
    const listed = spawnSync('python3', ['-c', program, file])
    if (listed.error !== undefined) return ctx.skip()
    expect(listed.stdout.toString()).toBe("None ['csv/a.csv', 'notebook.json', 'rules/before.txt', 'manifest.json']\n")
  })

  it('one on a real full disk leaves nothing', async (ctx) => {
    const disk = join(folder, 'disk')
    mkdirSync(disk)
    if (process.getuid?.() !== 0 || spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', disk]).status !== 0)
      return ctx.skip()
    try {
      const r = await writeZip(
        join(disk, 'x.zip'),
        [{ name: 'csv/a.csv', level: 0, content: () => ['x'.repeat(1 << 20)] }],
        [manifest],
      )
      expect(r).toMatchObject({
        ok: false,
        error: { code: 'BUNDLE_FAILED', why: expect.stringContaining('ENOSPC') as string },
      })
      expect(readdirSync(disk)).toEqual([])
    } finally {
      spawnSync('umount', [disk])
    }
  })
})

describe('a hostile bundle', () => {
  it('that is a pipe without a writer is not waited for', async (ctx) => {
    const pipe = join(folder, 'pipe.zip')
    if (spawnSync('mkfifo', [pipe]).status !== 0) return ctx.skip()
    expect(await openZip(pipe)).toMatchObject({
      ok: false,
      error: { code: 'BUNDLE_UNREADABLE', why: 'it is not a file' },
    })
  })
})
