import { createTheme } from '@mantine/core';
import type { CSSVariablesResolver, MantineColorsTuple } from '@mantine/core';

const accent: MantineColorsTuple = [
  '#eef0fd',
  '#dcdffa',
  '#b8bef3',
  '#929bec',
  '#727ce5',
  '#5b66dd',
  '#4450c8',
  '#3a45b0',
  '#303994',
  '#262e78',
];

/** Mantine’s dark greys are warm; ours are the cool ones of tokens.css. */
const dark: MantineColorsTuple = [
  '#e3e5ea',
  '#b5bac4',
  '#9ba1ad',
  '#6b707c',
  '#454852',
  '#2b2d33',
  '#1c1d21',
  '#17181b',
  '#121316',
  '#0e0f11',
];

/** Mantine wears our tokens: its own shadows, large radii and long transitions are off. */
export const theme = createTheme({
  primaryColor: 'accent',
  primaryShade: { light: 6, dark: 5 },
  colors: { accent, dark },
  fontFamily: 'var(--dd-font-text)',
  fontFamilyMonospace: 'var(--dd-font-mono)',
  fontSizes: { xs: '12px', sm: '12px', md: '13px', lg: '15px', xl: '20px' },
  lineHeights: { xs: '18px', sm: '18px', md: '20px', lg: '22px', xl: '28px' },
  spacing: { xs: '4px', sm: '8px', md: '12px', lg: '16px', xl: '24px' },
  defaultRadius: 6,
  radius: { xs: '3px', sm: '4px', md: '6px', lg: '6px', xl: '6px' },
  cursorType: 'pointer',
  focusRing: 'auto',
  respectReducedMotion: true,
  headings: { fontWeight: '600', sizes: { h1: { fontSize: '20px', lineHeight: '28px' } } },
  components: {
    Button: { defaultProps: { size: 'xs' } },
    ActionIcon: { defaultProps: { size: 26, variant: 'subtle', color: 'gray' } },
    TextInput: { defaultProps: { size: 'xs' } },
    NumberInput: { defaultProps: { size: 'xs', hideControls: true } },
    PasswordInput: { defaultProps: { size: 'xs' } },
    Select: { defaultProps: { size: 'xs', checkIconPosition: 'right', allowDeselect: false } },
    Textarea: { defaultProps: { size: 'xs' } },
    TagsInput: { defaultProps: { size: 'xs' } },
    Switch: { defaultProps: { size: 'xs' } },
    Checkbox: { defaultProps: { size: 'xs' } },
    SegmentedControl: { defaultProps: { size: 'xs', transitionDuration: 0 } },
    Tooltip: {
      defaultProps: {
        transitionProps: { duration: 0 },
        openDelay: 250,
        multiline: true,
        maw: 320,
        withinPortal: true,
      },
    },
    Popover: { defaultProps: { transitionProps: { duration: 0 }, shadow: 'none', withinPortal: true } },
    Menu: { defaultProps: { transitionProps: { duration: 0 }, shadow: 'none' } },
    Modal: {
      defaultProps: {
        transitionProps: { duration: 0 },
        overlayProps: { backgroundOpacity: 0.35 },
        closeButtonProps: { 'aria-label': 'Close' },
      },
    },
    Notification: { defaultProps: { closeButtonProps: { 'aria-label': 'Dismiss' } } },
    Skeleton: { defaultProps: { animate: false } },
  },
});

const shared = {
  '--mantine-color-body': 'var(--dd-bg)',
  '--mantine-color-text': 'var(--dd-text)',
  '--mantine-color-dimmed': 'var(--dd-text-dim)',
  '--mantine-color-placeholder': 'var(--dd-text-dim)',
  '--mantine-color-default': 'var(--dd-bg)',
  '--mantine-color-default-hover': 'var(--dd-hover)',
  '--mantine-color-default-border': 'var(--dd-border-strong)',
  '--mantine-color-default-color': 'var(--dd-text)',
  '--mantine-color-error': 'var(--dd-error)',
  '--mantine-color-anchor': 'var(--dd-accent-text)',
  '--mantine-color-accent-filled': 'var(--dd-accent)',
  '--mantine-color-accent-filled-hover': 'var(--dd-accent-hover)',
  '--mantine-color-accent-light': 'var(--dd-accent-soft)',
  '--mantine-color-accent-light-hover': 'var(--dd-selected)',
  '--mantine-color-accent-light-color': 'var(--dd-accent-text)',
  '--mantine-color-accent-outline': 'var(--dd-accent-text)',
  '--mantine-color-accent-text': 'var(--dd-accent-text)',
  '--mantine-color-gray-text': 'var(--dd-text-dim)',
  '--mantine-color-gray-light': 'var(--dd-hover)',
  '--mantine-color-gray-light-hover': 'var(--dd-hover)',
  '--mantine-color-gray-light-color': 'var(--dd-text-dim)',
  '--mantine-color-red-light': 'var(--dd-error-soft)',
  '--mantine-color-red-light-color': 'var(--dd-error)',
  '--mantine-color-red-outline': 'var(--dd-error)',
  '--mantine-color-red-text': 'var(--dd-error)',
};

export const cssVariables: CSSVariablesResolver = () => ({ variables: {}, light: shared, dark: shared });
