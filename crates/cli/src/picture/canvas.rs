//! Pixels to draw on, and text in a font that the program brings along.
//!
//! Everything is drawn three times as large as it is shown, so that averaging nine pixels smooths all edges.
//! Letters are laid out here because plotters' own way leaves out the room beside them.

use std::convert::Infallible;

use ab_glyph::{Font, FontRef, PxScale, ScaleFont, point};
use plotters::style::text_anchor::{HPos, VPos};
use plotters_backend::{
    BackendColor, BackendCoord, BackendTextStyle, DrawingBackend, DrawingErrorKind, FontStyle,
};

/// Pixels drawn for each one shown, either way.
const SMOOTHING: u32 = 3;

/// A picture in the making.
pub(super) struct Canvas {
    size: (u32, u32),
    sharpness: u32,
    pixels: Vec<[u8; 3]>,
    regular: FontRef<'static>,
    bold: FontRef<'static>,
}

impl Canvas {
    /// `size` units wide and high, a unit being `sharpness` pixels.
    pub(super) fn new(size: (u32, u32), sharpness: u32) -> anyhow::Result<Self> {
        let scale = SMOOTHING * sharpness;
        Ok(Self {
            size,
            sharpness,
            pixels: vec![[255; 3]; (size.0 * scale * size.1 * scale) as usize],
            regular: FontRef::try_from_slice(ttf_noto_sans::REGULAR)?,
            bold: FontRef::try_from_slice(ttf_noto_sans::BOLD)?,
        })
    }

    /// Pixels drawn for a unit.
    pub(super) fn scale(&self) -> u32 {
        SMOOTHING * self.sharpness
    }

    /// The picture as a PNG.
    pub(super) fn png(&self) -> anyhow::Result<Vec<u8>> {
        let (width, height) = (self.size.0 * self.sharpness, self.size.1 * self.sharpness);
        let mut shown = Vec::with_capacity((3 * width * height) as usize);
        for y in 0..height {
            for x in 0..width {
                shown.extend(self.average(x, y));
            }
        }
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, width, height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(&shown)?;
        writer.finish()?;
        Ok(file)
    }

    fn average(&self, x: u32, y: u32) -> [u8; 3] {
        let width = self.get_size().0;
        let mut sums = [0u32; 3];
        for dy in 0..SMOOTHING {
            let start = ((y * SMOOTHING + dy) * width + x * SMOOTHING) as usize;
            for pixel in &self.pixels[start..start + SMOOTHING as usize] {
                sums.iter_mut().zip(pixel).for_each(|(sum, &part)| *sum += u32::from(part));
            }
        }
        sums.map(|sum| (sum / (SMOOTHING * SMOOTHING)) as u8)
    }

    /// The font and its scale for letters of this size, which plotters gives 1.24 times as large.
    fn font(&self, style: FontStyle, size: f64) -> (&FontRef<'static>, PxScale, f32) {
        let font = if matches!(style, FontStyle::Bold) { &self.bold } else { &self.regular };
        let em = (size / 1.24) as f32;
        let units = font.units_per_em().unwrap_or(1000.0);
        (font, PxScale::from(em * font.height_unscaled() / units), em)
    }
}

type CanvasResult = Result<(), DrawingErrorKind<Infallible>>;

impl DrawingBackend for &mut Canvas {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        Canvas::get_size(self)
    }

    fn ensure_prepared(&mut self) -> CanvasResult {
        Ok(())
    }

    fn present(&mut self) -> CanvasResult {
        Ok(())
    }

    fn draw_pixel(&mut self, (x, y): BackendCoord, colour: BackendColor) -> CanvasResult {
        let (width, height) = Canvas::get_size(self);
        if (0..width as i32).contains(&x) && (0..height as i32).contains(&y) {
            let pixel = &mut self.pixels[y as usize * width as usize + x as usize];
            let (red, green, blue) = colour.rgb;
            for (old, new) in pixel.iter_mut().zip([red, green, blue]) {
                let mixed = f64::from(*old) * (1.0 - colour.alpha) + f64::from(new) * colour.alpha;
                *old = mixed.round() as u8;
            }
        }
        Ok(())
    }

    fn draw_text<S: BackendTextStyle>(
        &mut self,
        text: &str,
        style: &S,
        (x, y): BackendCoord,
    ) -> CanvasResult {
        let width = self.estimate_text_size(text, style)?.0 as f32;
        let (font, scale, em) = self.font(style.style(), style.size());
        let left = match style.anchor().h_pos {
            HPos::Left => 0.0,
            HPos::Center => -width / 2.0,
            HPos::Right => -width,
        };
        // Where the SVG has it.
        let baseline = match style.anchor().v_pos {
            VPos::Top => 0.76 * em,
            VPos::Center => 0.27 * em,
            VPos::Bottom => -0.27 * em,
        };
        let scaled = font.as_scaled(scale);
        let (mut pen, mut before, mut dots) = (left, None, Vec::new());
        for letter in text.chars() {
            let id = font.glyph_id(letter);
            pen += before.map_or(0.0, |before| scaled.kern(before, id));
            let glyph = id.with_scale_and_position(scale, point(pen, baseline));
            if let Some(outline) = font.outline_glyph(glyph) {
                let corner = outline.px_bounds().min;
                outline.draw(|dx, dy, cover| {
                    dots.push((corner.x as i32 + dx as i32, corner.y as i32 + dy as i32, cover));
                });
            }
            pen += scaled.h_advance(id);
            before = Some(id);
        }
        let (turn, colour) = (style.transform(), style.color());
        for (dx, dy, cover) in dots {
            let (dx, dy) = turn.transform(dx, dy);
            let alpha = colour.alpha * f64::from(cover.min(1.0));
            self.draw_pixel((x + dx, y + dy), BackendColor { alpha, ..colour })?;
        }
        Ok(())
    }

    fn estimate_text_size<S: BackendTextStyle>(
        &self,
        text: &str,
        style: &S,
    ) -> Result<(u32, u32), DrawingErrorKind<Infallible>> {
        let (font, scale, em) = self.font(style.style(), style.size());
        let scaled = font.as_scaled(scale);
        let width: f32 = text.chars().map(|letter| scaled.h_advance(font.glyph_id(letter))).sum();
        Ok((width.ceil() as u32, em.ceil() as u32))
    }
}

impl Canvas {
    fn get_size(&self) -> (u32, u32) {
        (self.size.0 * self.scale(), self.size.1 * self.scale())
    }
}
