//! Forms as browsers send them, with the files that came along.

use axum::extract::{Form, FromRequest, Multipart, Request};
use axum::http::{StatusCode, header};

use crate::app::App;
use crate::problem::Problem;

/// Tells whether a request is a form that may have files.
pub fn is_form(request: &Request) -> bool {
    let media = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    media.is_some_and(|media| media.starts_with("multipart/form-data"))
}

/// The fields of a form, and the files that came with it.
#[derive(Default)]
pub struct Fields {
    values: Vec<(String, String)>,
    files: Vec<Attached>,
}

/// A file that came with a form.
pub struct Attached {
    /// The field that it was chosen in.
    pub field: String,
    /// What it is called.
    pub name: String,
    /// What is in it.
    pub bytes: Vec<u8>,
}

impl Fields {
    /// The value of a field; empty when it is not there.
    pub fn get(&self, name: &str) -> &str {
        self.values.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }

    /// All values of a field.
    pub fn all(&self, name: &str) -> Vec<String> {
        self.values.iter().filter(|(known, _)| known == name).map(|(_, value)| value.clone()).collect()
    }

    /// All fields, and what they say.
    pub fn values(&self) -> impl Iterator<Item = (&str, &str)> {
        self.values.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The files that were chosen in a field.
    pub fn files(&self, field: &str) -> impl Iterator<Item = &Attached> {
        self.files.iter().filter(move |file| file.field == field)
    }

    async fn of_parts(request: Request, app: &App) -> Result<Self, Problem> {
        let unreadable = |status: StatusCode, text: String| {
            Problem::new(status, "request::form", format!("the form cannot be read: {text}"))
        };
        let mut parts = Multipart::from_request(request, app)
            .await
            .map_err(|error| unreadable(error.status(), error.body_text()))?;
        let mut fields = Self::default();
        loop {
            let next = parts.next_field().await.map_err(|error| unreadable(error.status(), error.body_text()))?;
            let Some(part) = next else { return Ok(fields) };
            let (field, name) = (part.name().unwrap_or_default().to_owned(), part.file_name().map(str::to_owned));
            let bytes = part.bytes().await.map_err(|error| unreadable(error.status(), error.body_text()))?.to_vec();
            match name {
                // A field for files in which none was chosen.
                Some(name) if name.is_empty() && bytes.is_empty() => {}
                Some(name) => fields.files.push(Attached { field, name, bytes }),
                None => fields.values.push((field, String::from_utf8_lossy(&bytes).into_owned())),
            }
        }
    }
}

impl FromRequest<App> for Fields {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        if is_form(&request) {
            return Self::of_parts(request, app).await;
        }
        let Form(values) = Form::from_request(request, app).await.map_err(|error| {
            Problem::new(error.status(), "request::form", format!("the form cannot be read: {}", error.body_text()))
        })?;
        Ok(Self { values, files: Vec::new() })
    }
}
