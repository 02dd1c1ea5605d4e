/**
 * The directions in which the house may lean. core/base is the ground; nothing points upwards and nothing in a circle.
 * @type {import('dependency-cruiser').IConfiguration}
 */
const room = (name) => `^core/${name}/`
const only = (name, ...allowed) => ({
  name: `core-${name}`,
  comment: `core/${name} stands only on: ${['itself', ...allowed].join(', ')}`,
  severity: 'error',
  from: { path: room(name), pathNot: '\\.(test|bench)\\.ts$' },
  to: { path: '^core/', pathNot: [room(name), ...allowed.map(room)] },
})

/** The emulator and all that it is made of. */
const MODEL = [
  ...['base', 'sim', 'series', 'lustre', 'tbf', 'control'],
  ...['adaptbf', 'padll', 'seqdlm', 'haechi', 'emulator'],
]

module.exports = {
  forbidden: [
    { name: 'no-circles', severity: 'error', from: {}, to: { circular: true } },
    { name: 'no-unresolved', severity: 'error', from: {}, to: { couldNotResolve: true, pathNot: '^electron$' } },
    {
      name: 'core-is-pure',
      comment: 'core imports core, and the three pure libraries that declare its edges (schemas, contract, YAML).',
      severity: 'error',
      from: { path: '^core/', pathNot: '\\.(test|bench)\\.ts$' },
      to: { pathNot: ['^core/', '^node_modules/(zod|yaml|@orpc/contract)/'] },
    },
    {
      name: 'libraries-at-the-edges-of-core',
      comment: 'Only the contract and the readers of YAML and JSON documents may use a library at all.',
      severity: 'error',
      from: {
        path: '^core/',
        pathNot: ['^core/(api|emulator|sandbox|snapshot|padll/rules|padll/status)', '\\.(test|bench)\\.ts$'],
      },
      to: { path: '^node_modules/' },
    },
    only('base'),
    only('sim', 'base'),
    only('series', 'base'),
    only('lustre', 'base'),
    only('tbf', 'base', 'sim', 'series', 'lustre'),
    only('control', 'base', 'series', 'lustre', 'tbf'),
    only('adaptbf', 'base', 'series', 'lustre', 'control', 'tbf'),
    only('seqdlm', 'base', 'sim', 'series'),
    only('haechi', 'base', 'sim', 'series'),
    only('padll', 'base', 'series', 'lustre', 'control', 'tbf'),
    only('emulator', 'base', 'sim', 'series', 'lustre', 'tbf', 'control', 'adaptbf', 'padll', 'seqdlm', 'haechi'),
    only('papers', ...MODEL),
    only('sandbox', ...MODEL, 'batch'),
    only('snapshot', 'base'),
    only('api', 'base', 'snapshot'),
    only('alerts', 'base', 'series', 'snapshot'),
    {
      name: 'window-knows-no-host',
      comment: 'The window imports the contract and pure formatting, never the host.',
      severity: 'error',
      from: { path: '^renderer/' },
      to: { path: ['^electron/', '^node_modules/electron/'] },
    },
    {
      name: 'window-and-core',
      severity: 'error',
      from: { path: '^renderer/' },
      to: { path: '^core/', pathNot: '^core/(api|base|snapshot)/' },
    },
    {
      name: 'electron-only-in-main-and-preload',
      comment: 'Everything else runs and is tested under plain Node.',
      severity: 'error',
      from: { path: '^electron/', pathNot: '^electron/(main|preload)/' },
      to: { path: ['^node_modules/electron/', '^electron/(main|preload)/'] },
    },
    {
      name: 'ssh-knows-no-host',
      comment: 'Sessions are below what uses them: of the rest of electron only the shape of a node.',
      severity: 'error',
      from: { path: '^electron/ssh/' },
      to: { path: '^electron/', pathNot: '^electron/(ssh/|cluster/connection\\.ts)' },
    },
    {
      name: 'widgets-hold-no-state',
      severity: 'error',
      from: { path: '^renderer/(widgets|charts)/' },
      to: { path: '^renderer/(stores|views|app)/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsConfig: { fileName: 'tsconfig.base.json' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default', 'types'] },
  },
}
