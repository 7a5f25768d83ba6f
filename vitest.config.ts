import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'examples/**/*.test.ts'],
    pool: 'threads',
    isolate: false,
    setupFiles: ['test/setup/leaks.ts'],
    reporters: ['default', './test/reporter.ts'],
    testTimeout: 20_000,
    hookTimeout: 20_000,
  },
})
