/**
 * electron-builder's own packing of this checkout around a stand-in for Electron: the real selection of files, archive, unpacking,
 * hook and fuses. The result has no Electron in it and cannot start.
 */
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { FuseV1Options, getCurrentFuseWire } from '@electron/fuses'
import { tempFolder } from './temp-folder.ts'

export const root = join(import.meta.dirname, '../..')

/** The used parts of electron-builder's libraries; they have no types for these files. */
interface ConfigTools {
  readonly getConfig: (project: string, file: string, given: null) => Promise<Record<string, unknown>>
  readonly validateConfiguration: (config: unknown, log: unknown) => Promise<void>
}
interface Util {
  readonly DebugLogger: new (isEnabled: boolean) => unknown
}
interface Packager {
  onAfterPack(hook: (context: { packager: LinuxPackager }) => Promise<void>): unknown
}
interface LinuxPackager {
  readonly platformSpecificBuildOptions: object
}
interface Library {
  readonly Platform: { readonly LINUX: { createTarget(kind: string): unknown } }
  readonly Packager: new (options: object) => Packager
  readonly build: (options: object, packager: Packager) => Promise<string[]>
}
interface Helper {
  readonly icons: Promise<readonly { readonly file: string; readonly size: number }[]>
  computeDesktopEntry(options: object): Promise<string>
}
interface Targets {
  readonly LinuxTargetHelper: new (packager: LinuxPackager) => Helper
  readonly default: new (
    kind: string,
    packager: LinuxPackager,
    helper: Helper,
    out: string,
  ) => {
    computeFpmMetaInfoOptions(): Promise<Record<string, string>>
  }
}
interface Asar {
  readonly createPackage: (from: string, to: string) => Promise<void>
  readonly listPackage: (archive: string, options: { isPack: boolean }) => string[]
  readonly extractAll: (archive: string, to: string) => void
  readonly statFile: (archive: string, path: string) => { readonly size: number; readonly unpacked?: boolean }
  readonly getRawHeader: (archive: string) => {
    readonly headerString: string
    readonly header: { readonly files: object }
  }
}
const need = createRequire(import.meta.resolve('electron-builder/package.json'))
const ofLib = createRequire(need.resolve('app-builder-lib/package.json'))
const { getConfig, validateConfiguration } = need('app-builder-lib/out/util/config/config') as ConfigTools
const { DebugLogger } = need('builder-util') as Util
const { build, Packager, Platform } = need('app-builder-lib') as Library
const { LinuxTargetHelper } = need('app-builder-lib/out/targets/LinuxTargetHelper') as Targets
const { default: FpmTarget } = need('app-builder-lib/out/targets/FpmTarget') as Targets
export const asar = ofLib('@electron/asar') as Asar

/** electron-builder.yml, completed by electron-builder. */
export const readConfig = (): Promise<Record<string, unknown>> => getConfig(root, 'electron-builder.yml', null)
/** Rejects with electron-builder's message if the configuration is not valid. */
export const validate = (config: unknown): Promise<void> => validateConfiguration(config, new DebugLogger(false))

/** Fuses of Electron 45 as shipped: version 1, nine of them. */
const SHIPPED_WIRE = '101100011'
const SENTINEL = 'dL7pKGdnNz796PbbjQWNKmHXBZaB9tsX'

/** Folder with the names that electron-builder expects of Electron, and fuses at the right place. */
async function standIn(folder: string): Promise<string> {
  for (const sub of ['resources', 'locales', 'empty']) mkdirSync(join(folder, sub), { recursive: true })
  const program = join(folder, 'electron')
  const fuses = Buffer.concat([Buffer.from(SENTINEL), Buffer.from([1, SHIPPED_WIRE.length]), Buffer.from(SHIPPED_WIRE)])
  writeFileSync(program, Buffer.concat([Buffer.from('#!/bin/sh\nexit 1\n# '), fuses]))
  chmodSync(program, 0o755)
  const others = [
    'version',
    'LICENSE',
    'LICENSES.chromium.html',
    'locales/en-US.pak',
    'locales/de.pak',
    'chrome-sandbox',
  ]
  for (const name of others) writeFileSync(join(folder, name), 'stand-in')
  writeFileSync(join(folder, 'empty/main.js'), '')
  await asar.createPackage(join(folder, 'empty'), join(folder, 'resources/default_app.asar'))
  return folder
}

export interface Packed {
  /** Folder to install. */
  readonly folder: string
  readonly archive: string
  /** Packages in it, as written by the hook. */
  readonly packages: readonly string[]
  /** Desktop entry for Linux, and the sizes of its icons. */
  readonly desktopEntry: string
  readonly icons: readonly number[]
  /** Maintainer fields of the .deb and .rpm. */
  readonly about: Record<string, string>
}

/** Packs out/ and its companions for Linux on this processor. */
export async function dryPack(): Promise<Packed> {
  const out = tempFolder()
  const electronDist = await standIn(join(tempFolder(), 'electron'))
  // Added to electron-builder.yml, which it reads itself.
  const config = { electronDist, directories: { output: out } }
  const options = { projectDir: root, publish: 'never', targets: Platform.LINUX.createTarget('dir'), config }
  const packager = new Packager(options)
  let packed: Pick<Packed, 'desktopEntry' | 'icons' | 'about'> | undefined
  packager.onAfterPack(async (context) => {
    const helper = new LinuxTargetHelper(context.packager)
    const icons = (await helper.icons).map(({ size }) => size)
    const desktopEntry = await helper.computeDesktopEntry(context.packager.platformSpecificBuildOptions)
    const about = await new FpmTarget('deb', context.packager, helper, out).computeFpmMetaInfoOptions()
    packed = { desktopEntry, icons, about }
  })
  await build(options, packager)
  if (!packed) throw new Error('nothing was packed')
  const folder = join(out, process.arch === 'x64' ? 'linux-unpacked' : `linux-${process.arch}-unpacked`)
  const packages = JSON.parse(readFileSync(join(out, 'packages.json'), 'utf8')) as string[]
  return { folder, archive: join(folder, 'resources/app.asar'), packages, ...packed }
}

/** Byte of an enabled fuse. */
const ON: number = 49

/** Every fuse of a program by its name, as @electron/fuses reads it back. */
export async function fusesOf(program: string): Promise<Record<string, boolean>> {
  const wire = await getCurrentFuseWire(program)
  const names = Object.keys(FuseV1Options).filter((name) => Number.isNaN(Number(name)))
  return Object.fromEntries(
    names.flatMap((name) => {
      const state = wire[FuseV1Options[name as keyof typeof FuseV1Options]]
      return state === undefined ? [] : [[name, Number(state) === ON]]
    }),
  )
}
