/** Programs of node_modules, run directly by Node: no shell, no .cmd shims, any path. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { run } from './child.mjs'
import { modules, nodeToUse, root } from './install.mjs'
import { Stop } from './messages.mjs'

/** Packages of programs with a different name. */
const PACKAGES = { depcruise: 'dependency-cruiser', tsc: 'typescript' }

/** @param {string} name @returns {string} the program's file @throws {Stop} if it does not exist */
export function toolFile(name) {
  const folder = join(modules, PACKAGES[/** @type {keyof typeof PACKAGES} */ (name)] ?? name)
  if (!/^[\w@/-]+$/.test(name) || !existsSync(join(folder, 'package.json'))) {
    throw new Stop(`there is no tool named ${name} in node_modules`, 2)
  }
  const { bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const file = typeof bin === 'string' ? bin : bin?.[name]
  if (typeof file !== 'string') throw new Stop(`the package ${name} has no program of that name`, 2)
  return join(folder, file)
}

/**
 * Runs a tool in the checkout.
 * @param {string} name @param {string[]} args @param {Parameters<typeof run>[2]} [options]
 */
export const tool = (name, args, options) => run(nodeToUse(), [toolFile(name), ...args], { cwd: root, ...options })
